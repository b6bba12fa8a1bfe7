// SPDX-License-Identifier: Apache-2.0
//
// What each tier holds and may hold.
#include "runtime/controller/tier_room.h"

#include <gtest/gtest.h>

#include <vector>

namespace cxltier {
namespace {

// Two sockets and CXL, seen from socket 0: local DRAM, remote DRAM, CXL.
Machine three_tiers() {
  Machine machine;
  machine.node_count = 3;
  for (std::uint16_t i = 0; i < 3; ++i) {
    machine.nodes[i].id = static_cast<NodeId>(i);
    machine.nodes[i].kind = i == 2 ? NodeKind::cxl : NodeKind::dram;
    machine.nodes[i].cpu_count = i == 2 ? 0 : 4;
    machine.nodes[i].size = {6400 * 4096};
  }
  machine.distance = {{{10, 21, 14}, {21, 10, 24}, {14, 24, 10}}};
  return machine;
}

class TierRoomTest : public testing::Test {
 protected:
  TierRoomTest() {
    NodeSet own;
    own.insert(NodeId{0});
    tiers = assign_tiers(machine, own);
  }
  TierRoom room() const {
    return measure_room(machine, tiers, by_node, caps_of(settings, machine, tiers));
  }

  const Machine machine = three_tiers();
  TierMap tiers;
  Settings settings;
  std::vector<NodePages> by_node{
      {{1000}, {1100}, {100}}, {{500}, {3100}, {100}}, {{50}, {6000}, {100}}};
};

TEST_F(TierRoomTest, CountsWhatIsUsedAndFreeBeyondTheReserve) {
  ASSERT_EQ(tiers.tier_count, 3);
  const TierRoom now = room();
  EXPECT_EQ(now.tiers[0].used.count, 1000u);
  EXPECT_EQ(now.tiers[0].capacity.count, 1000u + 1000u);
  EXPECT_EQ(now.tiers[1].capacity.count, 500u + 3000u);
  EXPECT_EQ(now.nodes[2].free.count, 5900u);
}

TEST_F(TierRoomTest, DealsADramLimitOverLocalAndRemote) {
  settings.limit_dram = Bytes{2500 * 4096};
  const TierRoom now = room();
  EXPECT_EQ(now.tiers[0].capacity.count, 2000u);  // all that fits there
  EXPECT_EQ(now.tiers[1].capacity.count, 500u);   // the rest of the limit
  EXPECT_EQ(now.tiers[2].capacity.count, 5950u);
  EXPECT_EQ(now.over_limit[0].count + now.over_limit[1].count, 0u);
}

TEST_F(TierRoomTest, TellsHowFarALimitIsExceeded) {
  settings.limit_dram = Bytes{800 * 4096};
  const TierRoom now = room();
  EXPECT_EQ(now.tiers[0].capacity.count, 800u);
  EXPECT_EQ(now.tiers[1].capacity.count, 0u);
  EXPECT_EQ(now.over_limit[0].count, 200u);
  EXPECT_EQ(now.over_limit[1].count, 500u);
}

TEST_F(TierRoomTest, TakesLimitsByNameAndByTier) {
  settings.limit_cxl = Bytes{20 * 4096};
  settings.limit_tier[1] = Bytes{600 * 4096};
  const TierRoom now = room();
  EXPECT_EQ(now.tiers[2].capacity.count, 20u);
  EXPECT_EQ(now.over_limit[2].count, 30u);
  EXPECT_EQ(now.tiers[1].capacity.count, 600u);
  EXPECT_EQ(now.tiers[0].capacity.count, 2000u);
}

TEST_F(TierRoomTest, HasNoRoomOnANodeBelowItsReserve) {
  by_node[0].free = {40};
  EXPECT_EQ(room().tiers[0].capacity.count, 1000u);
  EXPECT_EQ(room().nodes[0].free.count, 0u);
}

TEST(NodeReserve, IsASixtyFourthOrTheKernelsWatermark) {
  EXPECT_EQ(reserve_of_node({6400}, {84}).count, 100u);
  EXPECT_EQ(reserve_of_node({6400}, {700}).count, 700u);
}

TEST_F(TierRoomTest, IgnoresNodesThatAreNoTier) {
  tiers.tier_of[2] = tier_none;
  tiers.tier_count = 2;
  EXPECT_EQ(room().node_count, 2u);
}

TEST_F(TierRoomTest, GrowsOnTiersSlowerThanTheLimitedOnes) {
  const auto from = [&] { return slower_from(caps_of(settings, machine, tiers), tiers); };
  EXPECT_EQ(from(), 3u);  // no limit: nowhere
  settings.limit_cxl = Bytes{4096};
  EXPECT_EQ(from(), 3u);  // the slowest has nothing slower
  settings.limit_dram = Bytes{4096};
  EXPECT_EQ(from(), 2u);
  NodeSet cxl;
  cxl.insert(NodeId{2});
  EXPECT_EQ(slower_nodes(caps_of(settings, machine, tiers), machine, tiers), cxl);
  settings = {};
  settings.limit_tier[0] = Bytes{4096};
  EXPECT_EQ(from(), 1u);
}

}  // namespace
}  // namespace cxltier
