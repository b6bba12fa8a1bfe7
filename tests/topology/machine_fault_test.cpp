// SPDX-License-Identifier: Apache-2.0
//
// Readings of a machine while its files fail or lie: the machine stays valid, and nothing that was
// not proved is believed.
#include <gtest/gtest.h>

#include <string>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/process_nodes.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

class Faults : public testing::TestWithParam<const char*> {
 protected:
  std::string root_ = std::string(CXLTIER_FIXTURES "/") + GetParam();
  FileTreeLinux tree_{root_.c_str()};
};

// One failing call can lose a value, and with it a node's kind; it can never turn a node into CXL
// that is not.  It stops the reading only where a kernel has no list of online nodes and the folder
// of nodes, the fallback, is what fails.
TEST_P(Faults, EachFailingCallLeavesAValidMachine) {
  const Result<Reading> whole = read_machine(tree_);
  ASSERT_TRUE(whole.ok());
  int calls = 0;
  for (bool failed = true; failed;) {
    FailingTree failing(tree_, ++calls);

    const Result<Reading> result = read_machine(failing);

    failed = failing.has_failed();
    SCOPED_TRACE("call " + std::to_string(calls));
    if (!result.ok()) {
      EXPECT_EQ(result.error(), EIO);
      EXPECT_STREQ(GetParam(), "64fake-4n2s2ca2c2t");
      continue;
    }
    const Machine& machine = result.value().machine;
    EXPECT_TRUE(is_valid(machine));
    EXPECT_TRUE(is_valid(assign_tiers(machine, NodeSet{}), machine));
    EXPECT_EQ(machine.node_count, whole.value().machine.node_count);
    for (std::size_t i = 0; i < machine.node_count; ++i) {
      if (machine.nodes[i].kind != NodeKind::cxl) continue;
      EXPECT_EQ(whole.value().machine.nodes[i].kind, NodeKind::cxl);
    }
  }
  EXPECT_GT(calls, 10);
}

TEST_P(Faults, GarbledFilesLeaveAValidMachine) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GarblingTree garbling(tree_, seed);

    const Result<Reading> result = read_machine(garbling);

    if (!result.ok()) {
      EXPECT_GT(result.error(), 0);
      continue;
    }
    const Machine& machine = result.value().machine;
    EXPECT_TRUE(is_valid(machine));
    EXPECT_TRUE(is_valid(assign_tiers(machine, NodeSet{}), machine));
    for (std::size_t i = 0; i < machine.node_count; ++i) {
      EXPECT_LE(machine.nodes[i].performance.read_latency_ns, 5000u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Faults,
                         testing::Values("genport-2socket-7.3", "fakeheteromemtiers",
                                         "64fake-4n2s2ca2c2t", "nvidiagpunumanodes"),
                         [](const auto& machine) { return test_name_of(machine.param); });

TEST(ProcessNodesFaults, EachFailingCallIsAnErrorOrASmallerSet) {
  MemoryTree tree;
  tree.add_node(0, "0-3", 1024);
  tree.add_node(1, "4-7", 1024);
  tree.files["proc/self/status"] = "Cpus_allowed_list:\t0-7\nMems_allowed_list:\t0-1\n";
  int calls = 0;
  for (bool failed = true; failed;) {
    FailingTree failing(tree, ++calls);

    const Result<ProcessNodes> nodes = read_process_nodes(failing);

    failed = failing.has_failed();
    SCOPED_TRACE("call " + std::to_string(calls));
    if (!nodes.ok()) {
      EXPECT_EQ(nodes.error(), EIO);
      continue;
    }
    EXPECT_TRUE(nodes.value().allowed.contains(NodeId{1}));
    EXPECT_FALSE(nodes.value().own.contains(NodeId{2}));
  }
  EXPECT_GT(calls, 3);
}

}  // namespace
}  // namespace cxltier
