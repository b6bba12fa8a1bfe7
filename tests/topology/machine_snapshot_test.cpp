// SPDX-License-Identifier: Apache-2.0
//
// What read_machine makes of real machines.  Expected values were read off the snapshots' own files
// by hand, and agree with lstopo's for those that come from hwloc.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/machine_reader.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

constexpr NodeKind dram = NodeKind::dram;
constexpr NodeKind cxl = NodeKind::cxl;
constexpr NodeKind hbm = NodeKind::hbm;
constexpr NodeKind gpu = NodeKind::gpu;
constexpr NodeKind persistent = NodeKind::persistent;
constexpr NodeKind unknown = NodeKind::unknown;

struct ExpectedNode {
  int id;
  NodeKind kind;
  std::uint32_t cpus;
  std::uint64_t kib;
  int tier;  // seen from all CPUs; -1 for none
  int kernel_tier = -1;
  std::uint32_t read_ns = 0;
  std::uint32_t read_mbps = 0;
};

struct ExpectedMachine {
  std::string name;
  std::vector<ExpectedNode> nodes;
  std::vector<std::string> findings;  // "kind node value"
  friend void PrintTo(const ExpectedMachine& machine, std::ostream* out) { *out << machine.name; }
};

const std::vector<ExpectedMachine> machines = {
    {"single-6.12", {{0, dram, 2, 1952668, 0, 4}, {1, cxl, 0, 524288, 1, 22}}, {}},
    {"interleave2-hb-6.12", {{0, dram, 2, 1952668, 0, 4}, {1, cxl, 0, 524288, 1, 22}}, {}},
    {"switch-interleave2-6.12", {{0, dram, 2, 1952668, 0, 4}, {1, cxl, 0, 524288, 1, 22}}, {}},
    {"genport-2socket-6.12",
     {{0, dram, 2, 992236, 0, 4, 100, 204800},
      {1, dram, 2, 962620, 0, 4, 100, 204800},
      {3, cxl, 0, 524288, 1, 9941, 0, 16000}},
     {"latency_absurd 3 17210"}},
    {"genport-2socket-7.3",
     {{0, dram, 2, 985700, 0, 4, 100, 204800},
      {1, dram, 2, 962636, 0, 4, 100, 204800},
      {3, cxl, 0, 524288, 1, 150, 212, 16000}},
     {}},
    {"cpuless-hmat-6.12",
     {{0, dram, 2, 734188, 0, 4, 100, 204800},
      {1, dram, 2, 773444, 0, 4, 100, 204800},
      {2, unknown, 0, 513696, -1, 75, 250, 30720}},
     {"kind_unproven 2 0"}},
    {"no-region-6.12", {{0, dram, 2, 1952668, 0, 4}}, {"cxl_without_region - 1"}},
    {"no-srat-offline-6.12", {{0, dram, 2, 2019144, 0, 4}}, {"cxl_joins_cpu_node 0 0"}},
    {"fakeheteromemtiers",
     {{0, dram, 2, 3005392, 0, -1, 0, 1000},
      {1, dram, 2, 1002460, 0, -1, 0, 1000},
      {2, hbm, 2, 524288, -1, -1, 0, 10000},
      {4, hbm, 0, 524288, -1, -1, 0, 10000},
      {6, persistent, 0, 393216, -1, -1, 0, 100},
      {8, persistent, 0, 393216, -1, -1, 0, 100},
      {9, persistent, 0, 393216, -1, -1, 0, 100}},
     {"latency_absurd 0 0", "latency_absurd 1 0", "latency_absurd 2 0", "latency_absurd 4 0",
      "latency_absurd 6 0", "latency_absurd 8 0", "latency_absurd 9 0"}},
    {"nvidiagpunumanodes",
     {{0, dram, 16, 129839104, 0},
      {8, dram, 16, 133952000, 0},
      {250, gpu, 0, 15728640, -1},
      {251, gpu, 0, 15728640, -1},
      {252, gpu, 0, 15728640, -1},
      {253, gpu, 0, 15728640, -1},
      {254, gpu, 0, 15728640, -1},
      {255, gpu, 0, 15728640, -1}},
     {"cpus_offline 0 72", "cpus_offline 8 72"}},
    {"48amd64-4d2n6c-sparse",
     {{0, dram, 6, 8386460, 0},
      {1, dram, 6, 16777216, 0},
      {2, dram, 6, 8388608, 0},
      {33, dram, 6, 16777216, 0},
      {34, dram, 6, 8388608, 0},
      {45, dram, 6, 16777216, 0},
      {72, dram, 6, 8388608, 0},
      {73, dram, 6, 16777216, 0}},
     {}},
    {"offline-cpu0-node0", {{1, dram, 8, 67108864, 0}}, {"cpus_offline 1 4"}},
    {"64fake-4n2s2ca2c2t",
     {{0, dram, 16, 1048576, 0},
      {1, dram, 16, 1048576, 0},
      {2, dram, 16, 1048576, 0},
      {3, dram, 16, 1048576, 0}},
     {}},
    {"fakeheterocpunuma",
     {{0, dram, 4, 1048576, 0},
      {1, dram, 4, 1048576, 0},
      {2, unknown, 0, 1048576, -1},
      {3, dram, 4, 1048576, 0},
      {4, dram, 4, 1048576, 0},
      {5, dram, 4, 1048576, 0}},
     {"cpus_overlap 4 4", "cpus_overlap 5 8", "kind_unproven 2 0"}},
    {"32em64t-2n8c+1mic",
     {{0, dram, 8, 16747124, 0}, {1, dram, 8, 16777216, 0}},
     {"kmem_node_absent 5 0"}},
};

std::string word_of(const Finding& finding) {
  const std::string node = finding.node == node_none ? "-" : std::to_string(index_of(finding.node));
  return std::string(name_of(finding.kind)) + " " + node + " " + std::to_string(finding.value);
}

Result<Reading> read_snapshot(const std::string& name) {
  const std::string root = CXLTIER_FIXTURES "/" + name;
  FileTreeLinux tree(root.c_str());
  return read_machine(tree);
}

class Snapshot : public testing::TestWithParam<ExpectedMachine> {};

TEST_P(Snapshot, ReadsAsItsFilesSay) {
  const ExpectedMachine& expected = GetParam();

  const Result<Reading> result = read_snapshot(expected.name);

  ASSERT_TRUE(result.ok()) << strerror(result.error());
  const Machine& machine = result.value().machine;
  EXPECT_TRUE(is_valid(machine));
  const TierMap tiers = assign_tiers(machine, NodeSet{});
  ASSERT_EQ(machine.node_count, expected.nodes.size());
  for (std::size_t i = 0; i < expected.nodes.size(); ++i) {
    const ExpectedNode& want = expected.nodes[i];
    const Node& node = machine.nodes[i];
    SCOPED_TRACE("node " + std::to_string(want.id));
    EXPECT_EQ(index_of(node.id), static_cast<std::size_t>(want.id));
    EXPECT_STREQ(name_of(node.kind), name_of(want.kind));
    EXPECT_EQ(node.cpu_count, want.cpus);
    EXPECT_EQ(node.size.count, want.kib * 1024);
    EXPECT_EQ(node.kernel_tier, want.kernel_tier);
    EXPECT_EQ(node.performance.read_latency_ns, want.read_ns);
    EXPECT_EQ(node.performance.read_bandwidth_mbps, want.read_mbps);
    const TierIndex tier = tiers.tier_of[i];
    EXPECT_EQ(tier == tier_none ? -1 : static_cast<int>(index_of(tier)), want.tier);
  }
  std::vector<std::string> findings;
  for (const Finding& finding : result.value().findings.list()) {
    findings.push_back(word_of(finding));
  }
  EXPECT_EQ(findings, expected.findings);
}

INSTANTIATE_TEST_SUITE_P(Machines, Snapshot, testing::ValuesIn(machines),
                         [](const auto& machine) { return test_name_of(machine.param.name); });

std::vector<std::vector<int>> distances_of(const std::string& snapshot) {
  const Result<Reading> result = read_snapshot(snapshot);
  std::vector<std::vector<int>> rows;
  if (!result.ok()) return rows;
  const Machine& machine = result.value().machine;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    rows.emplace_back(machine.distance[i].begin(),
                      machine.distance[i].begin() + machine.node_count);
  }
  return rows;
}

using Rows = std::vector<std::vector<int>>;

// Node 2 is possible and absent: column 3 of a row is node 3's only if columns follow online nodes.
TEST(SnapshotDistances, ColumnsFollowOnlineNodes) {
  EXPECT_EQ(distances_of("genport-2socket-6.12"), (Rows{{10, 21, 20}, {21, 10, 20}, {20, 20, 10}}));
}

// Node 0 is possible and offline, and the row of node 1 is "21 10".
TEST(SnapshotDistances, ColumnsFollowPossibleNodesInSomeKernels) {
  EXPECT_EQ(distances_of("offline-cpu0-node0"), (Rows{{10}}));
}

TEST(SnapshotDistances, SparseIdsTakeColumnsInOrder) {
  const Rows rows = distances_of("48amd64-4d2n6c-sparse");
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[3], (std::vector{22, 16, 16, 10, 16, 16, 22, 22}));  // node 33
  EXPECT_EQ(rows[7], (std::vector{22, 16, 16, 22, 22, 16, 16, 10}));  // node 73
}

TEST(SnapshotDistances, MissingFilesAreUnknown) {
  EXPECT_EQ(distances_of("64fake-4n2s2ca2c2t"), Rows(4, std::vector(4, 0)));
}

TEST(SnapshotPerformance, RegionGivesWritesToo) {
  const Result<Reading> result = read_snapshot("genport-2socket-7.3");
  ASSERT_TRUE(result.ok());
  const NodePerformance& performance = result.value().machine.nodes[2].performance;
  EXPECT_EQ(performance.write_latency_ns, 312u);
  EXPECT_EQ(performance.write_bandwidth_mbps, 16000u);
}

TEST(Snapshot, FolderWithoutNodesIsAnError) {
  FileTreeLinux tree(CXLTIER_FIXTURES);
  EXPECT_EQ(read_machine(tree).error(), ENOENT);
  FileTreeLinux absent(CXLTIER_FIXTURES "/absent");
  EXPECT_EQ(read_machine(absent).error(), ENOENT);
}

}  // namespace
}  // namespace cxltier
