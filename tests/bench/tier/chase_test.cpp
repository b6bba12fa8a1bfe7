// SPDX-License-Identifier: Apache-2.0
//
// The chase is one cycle through every slot, whatever the seed: several cycles would time a part of
// the buffer that may fit a cache.
#include "bench/tier/kernel/chase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "bench/tier/kernel/timer.h"

namespace cxltier::bench {
namespace {

struct Freed {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Freed>;

Memory aligned(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)));
}

TEST(Chase, EverySlotIsVisitedOnceInBothOrdersFromAnySeed) {
  for (const ChaseOrder order : {ChaseOrder::whole, ChaseOrder::page_local}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(seed);
      std::vector<std::uint32_t> visits(10'000 + seed);  // also sizes that no group divides
      fill_visit_order(visits, {order, 64, seed});
      std::vector<std::uint32_t> sorted = visits;
      std::sort(sorted.begin(), sorted.end());
      for (std::uint32_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);
    }
  }
}

TEST(Chase, PageLocalFinishesAGroupBeforeItLeavesIt) {
  std::vector<std::uint32_t> visits(5 * chase_group_bytes / 64);
  fill_visit_order(visits, {ChaseOrder::page_local, 64, 3});
  std::set<std::size_t> left;
  std::size_t group = visits.front() * 64 / chase_group_bytes;
  for (const std::uint32_t visit : visits) {
    const std::size_t now = visit * std::size_t{64} / chase_group_bytes;
    if (now == group) continue;
    EXPECT_TRUE(left.insert(group).second);
    group = now;
    EXPECT_EQ(left.count(group), 0u);
  }
}

TEST(Chase, TheOrderIsNoStride) {
  std::vector<std::uint32_t> visits(4096);
  fill_visit_order(visits, {ChaseOrder::whole, 64, 1});
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < visits.size(); ++i) neighbours += visits[i] == visits[i - 1] + 1;
  EXPECT_LT(neighbours, 16u);  // about 1 expected of 4,096 random steps
}

TEST(Chase, AWalkThatClosesEarlyIsSeen) {
  std::vector<void*> slots(100);
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = &slots[(i + 1) % slots.size()];
  EXPECT_EQ(cycle_length(&slots[0], slots.size()), slots.size());
  slots[49] = &slots[0];  // closes over slot 0 halfway
  EXPECT_EQ(cycle_length(&slots[0], slots.size()), 50u);
  slots[49] = &slots[10];  // never comes back to slot 0
  EXPECT_EQ(cycle_length(&slots[0], slots.size()), slots.size() + 1);
}

TEST(Chase, BuildRefusesABufferWithoutACycle) {
  const Memory memory = aligned(4096);
  EXPECT_FALSE(Chase::build({memory.get(), 64}, {ChaseOrder::whole, 64, 1}).has_value());
  EXPECT_TRUE(Chase::build({memory.get(), 128}, {ChaseOrder::whole, 64, 1}).has_value());
}

TEST(Chase, EveryNumberOfChainsRuns) {
  constexpr std::size_t bytes = 1 << 20;
  const Memory memory = aligned(bytes);
  std::optional<Chase> chase = Chase::build({memory.get(), bytes}, {ChaseOrder::whole, 256, 7});
  ASSERT_TRUE(chase.has_value());
  EXPECT_EQ(chase->slots(), bytes / 256);
  const Timer timer = calibrate_timer(1);
  for (std::size_t chains = 1; chains <= chains_max; ++chains) {
    EXPECT_GT(chase->run(chains, 4096, timer), 0u) << chains;
  }
  Histogram ticks;
  chase->run_batches(100, timer, ticks);
  EXPECT_EQ(ticks.count(), 100u);
}

TEST(Timer, WhatAReadingCostsIsSubtractedAndNeverMore) {
  Timer timer;
  timer.cost_ticks = 30;
  EXPECT_EQ(timer.between(100, 200), 70u);
  EXPECT_EQ(timer.between(100, 120), 0u);
  EXPECT_EQ(timer.between(200, 100), 0u);  // a counter that steps back
}

}  // namespace
}  // namespace cxltier::bench
