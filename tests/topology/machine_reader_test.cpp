// SPDX-License-Identifier: Apache-2.0
//
// Shapes of machines that no snapshot has, built in memory.  Expected values follow from the rules
// in runtime/topology's headers.
#include "runtime/topology/machine_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

bool has_finding(const Reading& reading, FindingKind kind, NodeId node, std::uint64_t value) {
  for (const Finding& finding : reading.findings.list()) {
    if (finding.kind == kind && finding.node == node && finding.value == value) return true;
  }
  return false;
}

// Node 0 is DRAM with CPUs at 200 GB/s and 100 ns, node 1 has memory and nothing else.
MemoryTree two_nodes() {
  MemoryTree tree;
  tree.files["sys/devices/system/node/online"] = "0-1\n";
  tree.add_node(0, "0-3", 4 << 20);
  tree.add_node(1, "", 1 << 20);
  tree.add_performance(0, 100, 200000);
  return tree;
}

Reading reading_of(MemoryTree tree) {
  const Result<Reading> result = read_machine(tree);
  EXPECT_TRUE(result.ok());
  return result.value_or(Reading{});
}

NodeKind kind_of_node1(const MemoryTree& tree) { return reading_of(tree).machine.nodes[1].kind; }

const std::string cxl_path = "platform/ACPI0017:00/root0/decoder0.0/region7/dax_region7/dax7.0";

TEST(Kinds, CxlNeedsARegionInTheDevicePath) {
  MemoryTree tree = two_nodes();
  tree.add_dax(cxl_path, "1", "kmem");
  EXPECT_EQ(kind_of_node1(tree), NodeKind::cxl);

  MemoryTree other = two_nodes();
  other.add_dax("platform/region7/elsewhere/dax7.0", "1", "kmem");
  EXPECT_EQ(kind_of_node1(other), NodeKind::unknown);
}

TEST(Kinds, DeviceThatIsNotBoundToKmemProvesNothing) {
  MemoryTree tree = two_nodes();
  tree.add_dax(cxl_path, "1", "device_dax");

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.nodes[1].kind, NodeKind::unknown);
  EXPECT_TRUE(has_finding(reading, FindingKind::cxl_not_system_ram, NodeId{1}, 0));
}

// A memory device's numa_node is the socket that it hangs on, here node 1 itself.
TEST(Kinds, NumaNodeOfAMemoryDeviceIsNotLookedAt) {
  MemoryTree tree = two_nodes();
  tree.links["sys/bus/cxl/devices/mem0"] = "../../../devices/pci0000:0c/0000:0d:00.0/mem0";
  tree.files["sys/bus/cxl/devices/mem0/numa_node"] = "1\n";

  EXPECT_EQ(kind_of_node1(tree), NodeKind::unknown);
}

TEST(Kinds, SpecialPurposeMemoryIsHbmOnlyIfFasterThanDram) {
  MemoryTree fast = two_nodes();
  fast.add_dax("platform/hmem.0/dax0.0", "1", "kmem");
  fast.add_performance(1, 120, 800000);
  EXPECT_EQ(kind_of_node1(fast), NodeKind::hbm);

  MemoryTree slow = two_nodes();
  slow.add_dax("platform/hmem.0/dax0.0", "1", "kmem");
  slow.add_performance(1, 250, 60000);
  const Reading reading = reading_of(slow);
  EXPECT_EQ(reading.machine.nodes[1].kind, NodeKind::unknown);
  EXPECT_TRUE(has_finding(reading, FindingKind::special_purpose_unproven, NodeId{1}, 0));

  MemoryTree untold = two_nodes();
  untold.add_dax("platform/hmem.0/dax0.0", "1", "kmem");
  EXPECT_EQ(kind_of_node1(untold), NodeKind::unknown);
}

TEST(Kinds, SpecialPurposeRangeBesideARegionIsCxl) {
  MemoryTree tree = two_nodes();
  tree.add_dax("platform/hmem.0/dax0.0", "1", "kmem");
  tree.add_dax(cxl_path, "1", "kmem");
  tree.add_performance(1, 250, 60000);

  EXPECT_EQ(kind_of_node1(tree), NodeKind::cxl);
}

TEST(Kinds, CxlAndPersistentInOneNodeIsUnknown) {
  MemoryTree tree = two_nodes();
  tree.add_dax("LNXSYSTM:00/ACPI0012:00/ndbus0/region1/dax1.0", "1", "kmem");
  tree.add_dax(cxl_path, "1", "kmem");

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.nodes[1].kind, NodeKind::unknown);
  EXPECT_TRUE(has_finding(reading, FindingKind::kinds_disagree, NodeId{1}, 0));
}

// CXL memory may have joined this node's DRAM: without its CPUs known, nothing tells them apart.
TEST(Kinds, NodeOfUnreadableCpusIsUnknown) {
  MemoryTree tree = two_nodes();
  tree.add_dax(cxl_path, "1", "kmem");
  tree.files.erase("sys/devices/system/node/node1/cpulist");

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.nodes[1].kind, NodeKind::unknown);
  EXPECT_TRUE(has_finding(reading, FindingKind::cpus_unreadable, NodeId{1}, 0));
}

TEST(Kinds, GpuWithoutANodeIsNoNode) {
  MemoryTree tree = two_nodes();
  tree.files["proc/driver/nvidia/gpus/0000:01:00.0/numa_status"] = "Node:      -1\n";
  EXPECT_EQ(kind_of_node1(tree), NodeKind::unknown);

  tree.files["proc/driver/nvidia/gpus/0000:02:00.0/numa_status"] = "Node:      1\n";
  EXPECT_EQ(kind_of_node1(tree), NodeKind::gpu);
}

TEST(Devices, TargetNodeMinusOneIsCounted) {
  MemoryTree tree = two_nodes();
  tree.add_dax(cxl_path, "-1", "kmem");

  EXPECT_TRUE(has_finding(reading_of(tree), FindingKind::dax_without_node, node_none, 1));
}

TEST(Performance, Access1GoesBeforeAccess0) {
  MemoryTree tree = two_nodes();
  tree.add_performance(1, 300, 30000);
  tree.files["sys/devices/system/node/node1/access0/initiators/read_latency"] = "150\n";

  EXPECT_EQ(reading_of(tree).machine.nodes[1].performance.read_latency_ns, 300u);
}

TEST(Performance, Access0IsUsedWhenAccess1HasNothingUsable) {
  MemoryTree tree = two_nodes();
  tree.add_performance(1, 0, 0);
  tree.files["sys/devices/system/node/node1/access0/initiators/read_latency"] = "150\n";

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.nodes[1].performance.read_latency_ns, 150u);
  EXPECT_FALSE(has_finding(reading, FindingKind::latency_absurd, NodeId{1}, 0));
}

TEST(Performance, LimitOfPlausibleLatencyIs5000) {
  MemoryTree tree = two_nodes();
  tree.add_performance(1, 5000, 1000);
  EXPECT_EQ(reading_of(tree).machine.nodes[1].performance.read_latency_ns, 5000u);

  tree.add_performance(1, 5001, 1000);
  const Reading reading = reading_of(tree);
  EXPECT_EQ(reading.machine.nodes[1].performance.read_latency_ns, 0u);
  EXPECT_EQ(reading.machine.nodes[1].performance.read_bandwidth_mbps, 1000u);
  EXPECT_TRUE(has_finding(reading, FindingKind::latency_absurd, NodeId{1}, 5001));
}

// 70 nodes with memory at odd ids and one node without at id 0: memory goes first.
TEST(Limits, First64NodesWithMemoryAreUsed) {
  MemoryTree tree;
  tree.add_node(0, "0", 0);
  for (int i = 0; i < 70; ++i) tree.add_node(1 + 2 * i, "", 1024);

  const Reading reading = reading_of(tree);

  ASSERT_EQ(reading.machine.node_count, nodes_max);
  EXPECT_EQ(reading.machine.nodes[0].id, NodeId{1});
  EXPECT_EQ(reading.machine.nodes[63].id, NodeId{127});
  EXPECT_TRUE(has_finding(reading, FindingKind::nodes_beyond_limit, node_none, 70));
}

TEST(Limits, NodesWithoutMemoryAreKeptWhileThereIsRoom) {
  MemoryTree tree;
  for (int i = 0; i < 40; ++i) tree.add_node(i, "", 0);
  for (int i = 983; i < 1023; ++i) tree.add_node(i, "", 1024);

  const Reading reading = reading_of(tree);

  ASSERT_EQ(reading.machine.node_count, nodes_max);
  EXPECT_EQ(reading.machine.nodes[23].id, NodeId{23});
  EXPECT_EQ(reading.machine.nodes[24].id, NodeId{983});
  EXPECT_EQ(reading.machine.nodes[63].id, NodeId{1022});
}

TEST(Limits, MoreFindingsThanRoomAreCounted) {
  Findings findings;
  for (std::size_t i = 0; i < Findings::findings_max + 5; ++i) findings.add({});
  EXPECT_EQ(findings.list().size(), Findings::findings_max);
  EXPECT_EQ(findings.dropped(), 5u);
}

TEST(Distances, RowThatFitsNeitherSetIsUnknown) {
  MemoryTree tree = two_nodes();
  tree.files["sys/devices/system/node/possible"] = "0-3\n";
  tree.files["sys/devices/system/node/node0/distance"] = "10 20 30\n";
  tree.files["sys/devices/system/node/node1/distance"] = "20 10 30 30\n";

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.distance[0][1], 0);
  EXPECT_EQ(reading.machine.distance[1][0], 20);
  EXPECT_TRUE(has_finding(reading, FindingKind::distance_unreadable, NodeId{0}, 3));
}

TEST(Nodes, UnreadableSizeIsANodeWithoutMemory) {
  MemoryTree tree = two_nodes();
  tree.files["sys/devices/system/node/node1/meminfo"] = "Node 1 MemTotal: lots kB\n";

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.nodes[1].size.count, 0u);
  EXPECT_TRUE(has_finding(reading, FindingKind::size_unreadable, NodeId{1}, 0));
}

// Every other CPU of 8,192 makes a list of about 20 kB, more than is read; the mask fits.
TEST(Nodes, ListThatIsTooLongIsReadFromTheMask) {
  MemoryTree tree = two_nodes();
  std::string list;
  std::string mask;
  for (int cpu = 0; cpu < 8192; cpu += 2) list += std::to_string(cpu) + ",";
  for (int word = 0; word < 256; ++word) mask += word == 0 ? "55555555" : ",55555555";
  tree.files["sys/devices/system/node/node0/cpulist"] = list;
  tree.files["sys/devices/system/node/node0/cpumap"] = mask;

  EXPECT_EQ(reading_of(tree).machine.nodes[0].cpu_count, 4096u);
}

TEST(Pages, SizesAreReadWhereTheKernelPrintsThem) {
  MemoryTree tree = two_nodes();
  tree.files["proc/self/smaps"] =
      "00400000-00452000 r-xp 0 08:02 1 /bin/x\nSize: 328 kB\n"
      "KernelPageSize:       64 kB\nMMUPageSize:          64 kB\n";
  tree.files["sys/kernel/mm/transparent_hugepage/hpage_pmd_size"] = "536870912\n";

  const Reading reading = reading_of(tree);

  EXPECT_EQ(reading.machine.page_size.count, 65536u);
  EXPECT_EQ(reading.machine.huge_page_size.count, 536870912u);
  EXPECT_EQ(reading_of(two_nodes()).machine.page_size.count, 4096u);
}

TEST(Words, EveryFindingHasANameAndAText) {
  for (std::size_t i = 0; i < finding_kinds; ++i) {
    const auto kind = static_cast<FindingKind>(i);
    EXPECT_GT(std::string(name_of(kind)).size(), 1u) << i;
    EXPECT_GT(std::string(text_of(kind)).size(), 1u) << i;
  }
  EXPECT_STREQ(name_of(FindingKind::dax_without_node), "dax_without_node");
  EXPECT_STREQ(name_of(static_cast<FindingKind>(finding_kinds)), "?");
}

}  // namespace
}  // namespace cxltier
