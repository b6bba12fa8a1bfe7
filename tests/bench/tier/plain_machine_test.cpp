// SPDX-License-Identifier: Apache-2.0
//
// A machine whose nodes nobody describes is one node with everything, and is said to be assumed.
#include "bench/tier/host/plain_machine.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "bench/tier/host/processors.h"
#include "runtime/os/file_tree_linux.h"

namespace cxltier::bench {
namespace {

namespace fs = std::filesystem;

class PlainMachine : public testing::Test {
 protected:
  PlainMachine() {
    std::string pattern = (fs::temp_directory_path() / "cxltier-plain-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~PlainMachine() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  PlainMachine(const PlainMachine&) = delete;
  PlainMachine& operator=(const PlainMachine&) = delete;

  fs::path root_;
};

TEST_F(PlainMachine, WithoutFoldersOfNodesHasOneNode) {
  fs::create_directories(root_ / "proc");
  std::ofstream(root_ / "proc/meminfo") << "MemTotal:       2048 kB\nMemFree:        1024 kB\n";
  FileTreeLinux tree(root_.c_str());
  const Result<SeenMachine> seen = see_machine(tree);
  ASSERT_TRUE(seen.ok());
  EXPECT_FALSE(seen.value().nodes_seen);
  const Machine& machine = seen.value().machine;
  ASSERT_EQ(machine.node_count, 1u);
  EXPECT_EQ(machine.nodes[0].kind, NodeKind::dram);
  EXPECT_EQ(machine.nodes[0].size.count, 2048u * 1024);
  EXPECT_TRUE(is_valid(machine));
  const Processors processors = read_processors(tree, machine);
  ASSERT_EQ(processors.nodes.size(), 1u);
  EXPECT_EQ(processors.nodes[0].cpus.size(), processors.usable);  // nothing says what is a sibling
}

TEST_F(PlainMachine, WithoutAnythingIsAnError) {
  FileTreeLinux tree(root_.c_str());
  const Result<SeenMachine> seen = see_machine(tree);
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error(), ENOENT);
}

}  // namespace
}  // namespace cxltier::bench
