// SPDX-License-Identifier: Apache-2.0
//
// Own and allowed nodes from a process's status, as proc(5) describes its lines.
#include "runtime/topology/process_nodes.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/node_cpus.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

NodeSet set_of(std::initializer_list<int> ids) {
  NodeSet set;
  for (const int id : ids) set.insert(static_cast<NodeId>(id));
  return set;
}

MemoryTree three_nodes() {
  MemoryTree tree;
  tree.files["sys/devices/system/node/online"] = "0,8,250\n";
  tree.add_node(0, "0-3", 1024);
  tree.add_node(8, "4-7", 1024);
  tree.add_node(250, "", 1024);
  return tree;
}

TEST(NodesOfCpus, FindsTheNodesOfACpuList) {
  MemoryTree tree = three_nodes();
  EXPECT_EQ(nodes_of_cpus(tree, "0"), set_of({0}));
  EXPECT_EQ(nodes_of_cpus(tree, "3-4"), set_of({0, 8}));
  EXPECT_EQ(nodes_of_cpus(tree, ""), NodeSet{});
  EXPECT_EQ(nodes_of_cpus(tree, "100-200"), NodeSet{});
  EXPECT_EQ(nodes_of_cpus(tree, "7,nonsense"), set_of({8}));
}

TEST(ProcessNodes, ReadsCpusAndMemoryOfAProcess) {
  MemoryTree tree = three_nodes();
  tree.files["proc/42/status"] =
      "Name:\tredis\nCpus_allowed:\tf0\nCpus_allowed_list:\t4-7\n"
      "Mems_allowed:\t00000000,00000101\nMems_allowed_list:\t0,8\n";

  const Result<ProcessNodes> nodes = read_process_nodes(tree, "proc/42/status");

  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes.value().own, set_of({8}));
  EXPECT_EQ(nodes.value().allowed, set_of({0, 8}));
}

TEST(ProcessNodes, MissingLinesLeaveEmptySets) {
  MemoryTree tree = three_nodes();
  tree.files["proc/self/status"] = "Name:\tredis\n";

  const Result<ProcessNodes> nodes = read_process_nodes(tree);

  ASSERT_TRUE(nodes.ok());
  EXPECT_TRUE(nodes.value().own.empty());
  EXPECT_TRUE(nodes.value().allowed.empty());
}

TEST(ProcessNodes, MissingProcessIsAnError) {
  MemoryTree tree = three_nodes();
  EXPECT_EQ(read_process_nodes(tree, "proc/1/status").error(), ENOENT);
}

// Every process runs somewhere: true of any machine that the tests run on.
TEST(ProcessNodes, ThisProcessHasNodes) {
  FileTreeLinux tree("/");
  if (!nodes_online(tree).ok()) GTEST_SKIP() << "this machine has no sys/devices/system/node";

  const Result<ProcessNodes> nodes = read_process_nodes(tree);

  ASSERT_TRUE(nodes.ok());
  EXPECT_FALSE(nodes.value().own.empty());
  EXPECT_FALSE(nodes.value().allowed.empty());
}

}  // namespace
}  // namespace cxltier
