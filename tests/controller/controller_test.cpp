// SPDX-License-Identifier: Apache-2.0
//
// The whole loop over a fake machine: hot pages come to DRAM, the limit holds, and then it is
// quiet.
#include "runtime/controller/controller.h"

#include <gtest/gtest.h>

#include "tests/controller/controlled_process.h"

namespace cxltier {
namespace {

using fakes::ControlledProcess;
using fakes::page_bytes;

constexpr Bytes quarter{ControlledProcess::pages / 4 * page_bytes};

TEST(Controller, BringsHotPagesToDramWithinTheLimit) {
  ControlledProcess on(quarter);

  on.run(12);

  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_LE(on.process.pages_on(0) + on.process.pages_on(1), ControlledProcess::pages / 4);
  EXPECT_GT(on.process.published().pages_promoted, 0u);
  EXPECT_GT(on.process.published().pages_demoted, 0u);
  EXPECT_EQ(on.process.published().state, RunState::active);
  EXPECT_TRUE(on.contents_whole());
}

// A program that may run on the CPUs of one node only: the other node's DRAM is a tier of its own,
// for which the limit leaves nothing.
TEST(Controller, BringsHotPagesToItsOwnDramPastATierWithoutRoom) {
  NodeSet own;
  own.insert(NodeId{0});
  ControlledProcess on(quarter, PolicyKind::hot_cold, 0, own);
  on.run(20);
  EXPECT_EQ(on.process.published().tier_count, 3u);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_LE(on.process.pages_on(0) + on.process.pages_on(1), ControlledProcess::pages / 4);
}

TEST(Controller, ComesToRest) {
  ControlledProcess on(quarter);
  on.run(15);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  on.run(2 * steady_max);  // then the room that is left over goes to what is steadily lukewarm
  const std::uint64_t moved =
      on.process.published().pages_promoted + on.process.published().pages_demoted;
  on.run(40);
  const std::uint64_t later =
      on.process.published().pages_promoted + on.process.published().pages_demoted;
  EXPECT_LE(later - moved, ControlledProcess::pages / 100);
}

// Somebody else's placement, as after a restore: at rest it must be seen at the next scan, not two
// long rests later.
TEST(Controller, LooksOftenAgainWhenItsPagesWereMovedAway) {
  ControlledProcess on(quarter);
  on.run(40);
  const std::uint64_t resting = on.process.published().interval_ns;
  for (std::uint64_t i = 0; i < ControlledProcess::hot_pages; ++i) {
    on.process.pages()[ControlledProcess::address(i)].node = 2;
  }
  on.process.cost_per_call = milliseconds(10);  // a scan now costs so much that rests are long
  on.run(9);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_GE(resting, seconds(1).count);
}

// A page that is used all the time among a hundred cold ones: the program's speed may hang on it,
// and its access bit says no more than that of a page that was touched once.
TEST(Controller, BringsASingleHotPageAmongColdOnesToDram) {
  constexpr std::uint64_t last = ControlledProcess::pages - 1;
  ControlledProcess on({3 * ControlledProcess::pages / 8 * fakes::page_bytes});
  on.single_hot_page = last;
  on.process.pages()[ControlledProcess::address(last)].node = 2;
  on.run(60);
  EXPECT_NE(on.process.pages()[ControlledProcess::address(last)].node, 2);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
}

TEST(Controller, FirstTouchMovesNothing) {
  ControlledProcess on(quarter, PolicyKind::first_touch);
  on.run(12);
  EXPECT_EQ(on.process.published().pages_promoted + on.process.published().pages_demoted, 0u);
  EXPECT_EQ(on.process.published().state, RunState::watching);
  EXPECT_GT(on.process.published().managed_pages, 0u);
}

// First touch may exceed a limit; within ten seconds of the fake clock the process is back under
// it.
TEST(Controller, ComesBackUnderTheLimitAndTellsHowFarItWasOver) {
  ControlledProcess on(quarter);
  for (auto& [address, page] : on.process.pages()) page.node = 0;
  const Nanoseconds begin = on.process.now();

  while (on.process.pages_on(0) > ControlledProcess::pages / 4) {
    on.run(1);
    ASSERT_LE((on.process.now() - begin).count, seconds(10).count);
  }

  EXPECT_EQ(on.process.published().tiers[0].over_limit_pages_max,
            ControlledProcess::pages - ControlledProcess::pages / 4);
  EXPECT_EQ(on.process.published().tiers[0].limit_pages, ControlledProcess::pages / 4);
}

// A program that goes on growing: what it writes far beyond its limit comes from CXL right away
// instead of being moved there, and back under the limit it grows on DRAM again.
TEST(Controller, LetsAProgramFarOverItsLimitGrowOnCxl) {
  ControlledProcess on(quarter);
  for (auto& [address, page] : on.process.pages()) page.node = 0;
  const AddressRange more{ControlledProcess::address(ControlledProcess::pages),
                          ControlledProcess::address(2 * ControlledProcess::pages)};
  on.process.map(more);
  on.run(2);  // sees how far it is over, and gives its pages to come their policy
  ASSERT_GT(on.process.pages_on(0), ControlledProcess::pages / 4 * 17 / 16);
  const std::uint64_t before = on.process.pages_on(2);
  for (std::uintptr_t at = more.begin; at < more.begin + more.size() / 2; at += page_bytes) {
    on.process.touch(at);
  }
  EXPECT_EQ(on.process.pages_on(2) - before, ControlledProcess::pages / 2);

  while (on.process.pages_on(0) > ControlledProcess::pages / 4) on.run(1);
  on.run(2);  // sees that, then acts on it
  on.process.touch(more.end - page_bytes);
  EXPECT_EQ(on.process.pages()[more.end - page_bytes].node, 0);
}

TEST(Controller, FirstTouchIsLeftAloneOverItsLimit) {
  ControlledProcess on(quarter, PolicyKind::first_touch);
  for (auto& [address, page] : on.process.pages()) page.node = 0;
  const std::uintptr_t more = ControlledProcess::address(ControlledProcess::pages);
  on.process.map({more, more + page_bytes});
  on.run(2);
  on.process.touch(more);
  EXPECT_EQ(on.process.pages()[more].node, 0);
}

TEST(Controller, CountsWhatTheKernelRefuses) {
  ControlledProcess on(quarter);
  for (std::uint64_t i = 0; i < ControlledProcess::hot_pages; i += 2) {
    on.process.pages()[ControlledProcess::address(i)].move_error = 16;  // EBUSY
  }
  on.run(12);
  const auto busy = static_cast<std::size_t>(Refusal::busy);
  EXPECT_GT(on.process.published().pages_refused[busy], 0u);
  EXPECT_TRUE(on.contents_whole());
}

// While a child shares the pages nothing can be seen and nothing moves; after its death it goes on.
TEST(Controller, WaitsForAForkChild) {
  ControlledProcess on(quarter);
  on.process.has_child = true;
  on.run(6);
  EXPECT_EQ(on.process.published().pages_promoted, 0u);
  EXPECT_GT(on.process.published().scans_unknown, 0u);
  on.process.has_child = false;
  on.run(40);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
}

TEST(Controller, LooksEarlyWhenTheHeapGrows) {
  ControlledProcess on(quarter);
  on.run(20);
  on.process.advance(seconds(1));
  const bool due_before = on.controller->due();
  on.process.map({ControlledProcess::base + (64u << 20), ControlledProcess::base + (128u << 20)});
  EXPECT_TRUE(on.controller->due());
  EXPECT_FALSE(due_before && on.process.published().interval_ns > seconds(1).count);
}

TEST(Controller, FollowsAFullNode) {
  ControlledProcess on({ControlledProcess::pages * 4 * page_bytes});
  // No free page on DRAM beyond what the process holds there.
  on.process.nodes[0].used_by_others = on.process.nodes[0].pages - on.process.pages_on(0);
  on.process.nodes[1].used_by_others = on.process.nodes[1].pages;
  on.run(12);
  EXPECT_TRUE(on.contents_whole());
  EXPECT_LE(on.process.pages_on(0) + on.process.pages_on(1), ControlledProcess::pages / 4);
}

TEST(Controller, KeepsWithinItsVmaBudget) {
  ControlledProcess on(quarter);
  on.process.map({ControlledProcess::base + (1u << 30), ControlledProcess::base + (2u << 30)});
  on.run(3);
  EXPECT_LE(on.process.published().vmas, 64u + 4u);
  EXPECT_GT(on.process.published().regions, 0u);
}

TEST(Controller, StopsAndSaysWhyWhenTheMapsCannotBeRead) {
  ControlledProcess on(quarter);
  on.run(2);
  on.process.maps_error = 13;  // EACCES
  on.run(Controller::failures_max);
  EXPECT_EQ(on.process.published().state, RunState::stopped);
  EXPECT_NE(std::string(on.process.published().reason.data()).find("errno 13"), std::string::npos);
}

// Loaded DRAM slower than CXL: a part of the traffic has to go, whatever the ranks say.
TEST(Controller, BalanceGivesTrafficAwayWhileDramIsLoadedAndTakesItBack) {
  ControlledProcess on({ControlledProcess::pages * page_bytes}, PolicyKind::balance);
  on.run(20);
  ASSERT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_EQ(on.process.published().latencies[0].idle_ps, 100'000u);
  on.process.nodes[0].latency_ps = on.process.nodes[1].latency_ps = 500'000;
  on.run(30);
  EXPECT_EQ(on.process.published().latencies[0].loaded_ps, 500'000u);
  EXPECT_LT(on.hot_on_dram(), ControlledProcess::hot_pages / 2);
  on.process.nodes[0].latency_ps = on.process.nodes[1].latency_ps = 100'000;
  on.run(60);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_TRUE(on.contents_whole());
}

TEST(Controller, CapacityMovesWhatIsColdToCxl) {
  ControlledProcess on({ControlledProcess::pages * page_bytes}, PolicyKind::capacity);
  for (auto& [address, page] : on.process.pages()) page.node = 0;
  on.run(60);
  EXPECT_GT(on.process.pages_on(2), ControlledProcess::pages / 10);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 90 / 100);
}

// Blocks of a node went offline: what must stay free there is a part of what is left.
TEST(Controller, FollowsANodeThatShrinks) {
  constexpr std::uint64_t others_leave = 900;
  ControlledProcess on({ControlledProcess::pages * 4 * page_bytes});
  fakes::FakeNode& dram = on.process.nodes[0];
  dram.used_by_others = dram.pages - on.process.pages_on(0) - others_leave;
  on.process.nodes[1].used_by_others = on.process.nodes[1].pages;
  on.run(12);
  const std::uint64_t before = on.process.pages_on(0);
  ASSERT_LE(before, ControlledProcess::pages / 4);

  const std::uint64_t gone = dram.pages / 2;
  dram.pages -= gone;
  dram.used_by_others -= gone;
  on.run(12);

  EXPECT_GT(on.process.pages_on(0), before);
  EXPECT_TRUE(on.contents_whole());
}

// The machine changed: another controller takes over on the same process, and nothing is counted
// twice or lost, nor is what the process stored.
TEST(Controller, CarriesOnWhereAnotherOneEnded) {
  ControlledProcess on(quarter);
  on.run(12);
  const TelemetryPage before = on.process.published();

  on.take_over();
  on.run(1);
  EXPECT_EQ(on.process.published().ticks, before.ticks + 1);
  EXPECT_EQ(on.process.published().started_ns, before.started_ns);
  EXPECT_GE(on.process.published().pages_promoted, before.pages_promoted);
  on.run(20);
  EXPECT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 97 / 100);
  EXPECT_LE(on.process.pages_on(0) + on.process.pages_on(1), ControlledProcess::pages / 4);
  EXPECT_TRUE(on.contents_whole());
}

}  // namespace
}  // namespace cxltier
