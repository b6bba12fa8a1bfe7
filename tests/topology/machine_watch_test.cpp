// SPDX-License-Identifier: Apache-2.0
//
// Nodes that get memory or lose it, and a cpuset that changes, are noticed; a file that fails is
// not taken for a change.
#include "runtime/topology/machine_watch.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

constexpr const char* has_memory = "sys/devices/system/node/has_memory";
constexpr const char* status = "proc/self/status";

MemoryTree machine_with(const std::string& nodes, const std::string& allowed) {
  MemoryTree tree;
  tree.files["sys/devices/system/node/possible"] = "0-2\n";
  tree.files[has_memory] = nodes + "\n";
  tree.files[status] = "Name:\tredis\nMems_allowed_list:\t" + allowed + "\n";
  return tree;
}

TEST(MachineWatch, SeesNodesThatComeAndGo) {
  MemoryTree tree = machine_with("0", "0-63");
  MachineWatch watch;
  watch.take(tree);
  EXPECT_FALSE(watch.is_outdated(tree));

  tree.files[has_memory] = "0-1\n";
  EXPECT_TRUE(watch.is_outdated(tree));
  watch.take(tree);
  EXPECT_FALSE(watch.is_outdated(tree));

  tree.files[has_memory] = "0\n";
  EXPECT_TRUE(watch.is_outdated(tree));
}

TEST(MachineWatch, SeesACpusetThatIsWidened) {
  MemoryTree tree = machine_with("0-1", "0");
  MachineWatch watch;
  watch.take(tree);
  tree.files[status] = "Mems_allowed_list:\t0-1\n";
  EXPECT_TRUE(watch.is_outdated(tree));
}

// Which nodes there are is none of the process's business while it may not use them.
TEST(MachineWatch, MemoryOutsideTheCpusetIsNoChange) {
  MemoryTree tree = machine_with("0", "0");
  MachineWatch watch;
  watch.take(tree);
  tree.files[has_memory] = "0-1\n";
  EXPECT_FALSE(watch.is_outdated(tree));
}

TEST(MachineWatch, FilesThatFailOrMakeNoSenseAreNoChange) {
  const MemoryTree whole = machine_with("0-1", "0-63");
  MachineWatch watch;
  MemoryTree tree = whole;
  watch.take(tree);
  for (const char* file : {has_memory, status}) {
    tree = whole;
    tree.files.erase(file);
    EXPECT_FALSE(watch.is_outdated(tree)) << file;
    watch.take(tree);
    tree = whole;
    EXPECT_FALSE(watch.is_outdated(tree)) << file;
  }
  tree.files[has_memory] = "nonsense";
  EXPECT_FALSE(watch.is_outdated(tree));
}

TEST(MachineWatch, MayGrowWhereANodeHasNoMemoryYetOrIsKeptAway) {
  MemoryTree tree = machine_with("0", "0-63");
  EXPECT_TRUE(MachineWatch::may_grow(tree));
  tree.files["sys/devices/system/node/possible"] = "0\n";
  EXPECT_FALSE(MachineWatch::may_grow(tree));
  tree = machine_with("0-2", "0-1");
  EXPECT_TRUE(MachineWatch::may_grow(tree));
  tree = machine_with("0-2", "0-2");
  EXPECT_FALSE(MachineWatch::may_grow(tree));
  tree.files.erase("sys/devices/system/node/possible");
  EXPECT_FALSE(MachineWatch::may_grow(tree));
}

}  // namespace
}  // namespace cxltier
