// SPDX-License-Identifier: Apache-2.0
//
// Medians, idle levels and gaps of the probes, over a chase whose every batch is set by hand.
#include "runtime/sensor/latency_probe.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <map>

namespace cxltier {
namespace {

class FakeChase final : public LatencyChase {
 public:
  Result<Done> open(std::size_t slot, NodeId node) noexcept override {
    if (node == absent) return Error{ENOMEM};
    node_of[slot] = node;
    return Done{};
  }
  Result<std::uint32_t> walk(std::size_t slot) noexcept override {
    std::deque<int>& next = batches[index_of(node_of[slot])];
    if (next.empty()) return Error{EAGAIN};
    const int latency = next.front();
    next.pop_front();
    if (latency < 0) return Error{-latency};
    return static_cast<std::uint32_t>(latency);
  }

  NodeId absent{999};
  std::map<std::size_t, NodeId> node_of;
  std::map<std::size_t, std::deque<int>> batches;  // by node, ps; below 0: an errno
};

// Nodes 0 and 1 are tier 0, node 2 is tier 1, node 3 has none.
class LatencyProbeTest : public testing::Test {
 protected:
  LatencyProbeTest() {
    machine.node_count = 4;
    for (std::uint16_t i = 0; i < 4; ++i) {
      machine.nodes[i].id = NodeId{i};
      machine.nodes[i].size = {1u << 30};
    }
    tiers.tier_count = 2;
    tiers.tier_of[0] = tiers.tier_of[1] = TierIndex{0};
    tiers.tier_of[2] = TierIndex{1};
  }

  Machine machine;
  TierMap tiers;
  FakeChase chase;
  LatencyProbe probe{chase};
};

TEST_F(LatencyProbeTest, TheMedianIsNotMovedByAnOutlier) {
  probe.open(machine, tiers);
  chase.batches[0] = {100, 101, 99, 5000, 102};
  chase.batches[2] = {250, 251, 249, 250, 250};
  probe.probe(5);
  const auto seen = probe.take();
  EXPECT_EQ(seen[0].loaded_ps, 101u);
  EXPECT_EQ(seen[0].batches, 5u);
  EXPECT_EQ(seen[1].loaded_ps, 250u);
}

TEST_F(LatencyProbeTest, IdleIsTheLowestQuartileEver) {
  probe.open(machine, tiers);
  chase.batches[0] = {100, 100, 100, 100, 300, 300, 300, 300};
  chase.batches[2] = {250, 250, 250, 250, 250, 250, 250, 250};
  probe.probe(4);
  EXPECT_EQ(probe.take()[0].idle_ps, 100u);
  probe.probe(4);
  const auto loaded = probe.take();
  EXPECT_EQ(loaded[0].idle_ps, 100u);
  EXPECT_EQ(loaded[0].loaded_ps, 300u);
}

TEST_F(LatencyProbeTest, InterruptedBatchesAreDroppedAndNothingIsMadeUp) {
  probe.open(machine, tiers);
  chase.batches[0] = {-EAGAIN, 100, -EAGAIN};
  probe.probe(3);
  const auto seen = probe.take();
  EXPECT_EQ(seen[0].batches, 1u);
  EXPECT_EQ(seen[0].loaded_ps, 100u);
  EXPECT_EQ(seen[0].idle_ps, 0u) << "one batch says nothing of idle";
  EXPECT_EQ(seen[1].loaded_ps, 0u);
  EXPECT_EQ(probe.take()[0].loaded_ps, 0u) << "taken once";
}

TEST_F(LatencyProbeTest, TheFasterNodeSpeaksForItsTier) {
  probe.open(machine, tiers);
  chase.batches[0] = {180, 180, 180, 180};
  chase.batches[1] = {120, 120, 120, 120};
  probe.probe(4);
  EXPECT_EQ(probe.take()[0].idle_ps, 120u);
}

TEST_F(LatencyProbeTest, ANodeThatGivesNoMemoryIsLeftOut) {
  chase.absent = NodeId{2};
  probe.open(machine, tiers);
  chase.batches[0] = {100, 100, 100, 100};
  probe.probe(4);
  const auto seen = probe.take();
  EXPECT_EQ(seen[0].loaded_ps, 100u);
  EXPECT_EQ(seen[1].batches, 0u);
}

TEST_F(LatencyProbeTest, KeepsNoMoreThanItHasRoomFor) {
  probe.open(machine, tiers);
  chase.batches[0].assign(3 * LatencyProbe::batches_max, 100);
  probe.probe(2 * LatencyProbe::batches_max);
  EXPECT_EQ(probe.take()[0].batches, LatencyProbe::batches_max);
}

}  // namespace
}  // namespace cxltier
