// SPDX-License-Identifier: Apache-2.0
//
// The tiers of a process: expected values come from the rule in policy/machine.h, worked out by
// hand for machines whose distances are published (two-socket servers with one or two CXL cards).
#include "policy/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <vector>

namespace cxltier {
namespace {

Node node_of(int id, NodeKind kind, std::uint32_t cpus) {
  Node node;
  node.id = static_cast<NodeId>(id);
  node.kind = kind;
  node.cpu_count = cpus;
  node.size = {std::uint64_t{1} << 30};
  return node;
}

Machine machine_of(const std::vector<Node>& nodes, const std::vector<std::vector<int>>& rows) {
  Machine machine;
  machine.node_count = static_cast<std::uint32_t>(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    machine.nodes[i] = nodes[i];
    for (std::size_t j = 0; j < rows.size(); ++j) {
      machine.distance[i][j] = static_cast<std::uint8_t>(rows[i][j]);
    }
  }
  return machine;
}

// Two sockets, a CXL card on each: the distances that Sapphire Rapids servers report.
Machine two_sockets_two_cards() {
  return machine_of({node_of(0, NodeKind::dram, 104), node_of(1, NodeKind::dram, 104),
                     node_of(2, NodeKind::cxl, 0), node_of(3, NodeKind::cxl, 0)},
                    {{10, 21, 14, 24}, {21, 10, 24, 14}, {14, 24, 10, 26}, {24, 14, 26, 10}});
}

NodeSet set_of(std::initializer_list<int> ids) {
  NodeSet set;
  for (const int id : ids) set.insert(static_cast<NodeId>(id));
  return set;
}

std::vector<int> tiers_of(const Machine& machine, const NodeSet& own) {
  const TierMap tiers = assign_tiers(machine, own);
  EXPECT_TRUE(is_valid(tiers, machine));
  std::vector<int> found;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const bool none = tiers.tier_of[i] == tier_none;
    found.push_back(none ? -1 : static_cast<int>(index_of(tiers.tier_of[i])));
  }
  return found;
}

TEST(AssignTiers, OneSocketSeesFourTiers) {
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), set_of({0})), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), set_of({1})), (std::vector{1, 0, 3, 2}));
}

TEST(AssignTiers, BothSocketsSeeTwoTiers) {
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), set_of({0, 1})), (std::vector{0, 0, 1, 1}));
}

TEST(AssignTiers, NoOwnNodesMeansEveryNodeWithCpus) {
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), NodeSet{}), (std::vector{0, 0, 1, 1}));
}

TEST(AssignTiers, LatencyGoesBeforeDistance) {
  Machine machine = two_sockets_two_cards();
  machine.nodes[2].performance.read_latency_ns = 400;
  machine.nodes[3].performance.read_latency_ns = 212;

  EXPECT_EQ(tiers_of(machine, set_of({0})), (std::vector{0, 1, 3, 2}));
}

TEST(AssignTiers, CxlOfUnknownLatencyIsBelowCxlOfKnownLatency) {
  Machine machine = two_sockets_two_cards();
  machine.nodes[3].performance.read_latency_ns = 212;

  EXPECT_EQ(tiers_of(machine, set_of({0, 1})), (std::vector{0, 0, 2, 1}));
}

// A card that firmware says is nearer than the other socket is still below all DRAM.
TEST(AssignTiers, CxlIsBelowRemoteDram) {
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), set_of({0}))[1], 1);
  EXPECT_EQ(tiers_of(two_sockets_two_cards(), set_of({0}))[2], 2);
}

TEST(AssignTiers, OtherKindsAndEmptyNodesAreInNoTier) {
  Machine machine = machine_of({node_of(0, NodeKind::dram, 4), node_of(1, NodeKind::hbm, 4),
                                node_of(2, NodeKind::gpu, 0), node_of(3, NodeKind::persistent, 0),
                                node_of(4, NodeKind::unknown, 0), node_of(5, NodeKind::dram, 0)},
                               {});
  machine.nodes[5].size = {0};

  EXPECT_EQ(tiers_of(machine, NodeSet{}), (std::vector{0, -1, -1, -1, -1, -1}));
}

// Node 1 has CPUs and no memory, a socket with empty slots: the nearest DRAM is its first tier.
TEST(AssignTiers, OwnNodeWithoutMemoryStillMeasuresDistances) {
  Machine machine = two_sockets_two_cards();
  machine.nodes[1].size = {0};

  EXPECT_EQ(tiers_of(machine, set_of({1})), (std::vector{0, -1, 2, 1}));
}

TEST(AssignTiers, DramOfUnknownDistanceIsOneRemoteTier) {
  const Machine machine = machine_of(
      {node_of(0, NodeKind::dram, 1), node_of(1, NodeKind::dram, 1), node_of(2, NodeKind::dram, 1)},
      {});

  EXPECT_EQ(tiers_of(machine, set_of({0})), (std::vector{0, 1, 1}));
}

TEST(AssignTiers, MoreRanksThanTiersShareTheLastTier) {
  std::vector<Node> nodes;
  for (int id = 0; id < 12; ++id) nodes.push_back(node_of(id, NodeKind::dram, 1));
  Machine machine = machine_of(nodes, {});
  for (std::size_t i = 0; i < 12; ++i) machine.distance[0][i] = static_cast<std::uint8_t>(10 + i);

  EXPECT_EQ(tiers_of(machine, set_of({0})), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7}));
}

TEST(AssignTiers, MachineWithoutNodesHasNoTier) {
  EXPECT_EQ(assign_tiers(Machine{}, NodeSet{}).tier_count, 0);
}

// For any machine: the map is valid, the same arguments give the same map, and no DRAM is below
// CXL.
TEST(AssignTiers, AnyMachineGivesAValidMap) {
  constexpr unsigned seed = 20260711;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    Machine machine;
    machine.node_count = static_cast<std::uint32_t>(random() % (nodes_max + 1));
    for (std::size_t i = 0; i < machine.node_count; ++i) {
      machine.nodes[i] = node_of(static_cast<int>(i * 3), static_cast<NodeKind>(random() % 6),
                                 static_cast<std::uint32_t>(random() % 2));
      machine.nodes[i].size = {random() % 3};
      machine.nodes[i].performance.read_latency_ns = static_cast<std::uint32_t>(random() % 4 * 100);
      for (auto& distance : machine.distance[i]) distance = static_cast<std::uint8_t>(random());
    }
    const NodeSet own = set_of({static_cast<int>(random() % 60), static_cast<int>(random() % 60)});

    const TierMap tiers = assign_tiers(machine, own);

    EXPECT_TRUE(is_valid(tiers, machine));
    EXPECT_EQ(tiers.tier_of, assign_tiers(machine, own).tier_of);
    std::size_t slowest_dram = 0;
    std::size_t fastest_cxl = tiers_max;
    for (std::size_t i = 0; i < machine.node_count; ++i) {
      if (tiers.tier_of[i] == tier_none) continue;
      const std::size_t tier = index_of(tiers.tier_of[i]);
      if (machine.nodes[i].kind == NodeKind::dram) slowest_dram = std::max(slowest_dram, tier);
      if (machine.nodes[i].kind == NodeKind::cxl) fastest_cxl = std::min(fastest_cxl, tier);
    }
    // When everything is squeezed into the last tier the two may meet there.
    EXPECT_LE(slowest_dram, fastest_cxl);
  }
}

TEST(IsValid, MachineNamesItsBreaches) {
  Machine machine = two_sockets_two_cards();
  EXPECT_TRUE(is_valid(machine));

  Machine unsorted = machine;
  unsorted.nodes[1].id = NodeId{0};
  EXPECT_FALSE(is_valid(unsorted));

  Machine crowded = machine;
  crowded.node_count = nodes_max + 1;
  EXPECT_FALSE(is_valid(crowded));

  Machine far = machine;
  far.nodes[3].id = NodeId{1024};
  EXPECT_FALSE(is_valid(far));

  Machine paged = machine;
  paged.page_size = {0};
  EXPECT_FALSE(is_valid(paged));
}

TEST(IsValid, TierMapNamesItsBreaches) {
  const Machine machine = two_sockets_two_cards();
  const TierMap tiers = assign_tiers(machine, set_of({0}));
  EXPECT_TRUE(is_valid(tiers, machine));

  TierMap hole = tiers;
  hole.tier_of[1] = TierIndex{0};
  EXPECT_FALSE(is_valid(hole, machine));

  TierMap beyond = tiers;
  beyond.tier_of[9] = TierIndex{0};
  EXPECT_FALSE(is_valid(beyond, machine));

  TierMap above = tiers;
  above.tier_count = 3;
  EXPECT_FALSE(is_valid(above, machine));
}

TEST(PositionOf, FindsSparseIdsAndSaysWhenAbsent) {
  const Machine machine =
      machine_of({node_of(0, NodeKind::dram, 1), node_of(1023, NodeKind::cxl, 0)}, {});

  EXPECT_EQ(position_of(machine, NodeId{1023}), 1u);
  EXPECT_EQ(position_of(machine, NodeId{7}), 2u);
}

}  // namespace
}  // namespace cxltier
