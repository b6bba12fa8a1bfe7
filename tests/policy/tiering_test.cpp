// SPDX-License-Identifier: Apache-2.0
//
// The whole policy on loaded memory whose best placement is known: it finds it, keeps it, follows
// changes, and each mechanism is shown by what happens without it.
#include "policy/tiering.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/policy/tiering_loop.h"

namespace cxltier {
namespace {

using testing::colloid_fit_a;
using testing::colloid_fit_b;
using testing::hot_set;
using testing::LoopSetup;
using testing::TieringLoop;

constexpr std::size_t leaf_count = 256;
constexpr std::uint32_t leaf_pages = 32'768;
constexpr std::size_t hot_leaves = 85;
constexpr std::size_t fast_leaves = 114;

// A third is hot, four ninths fit, the hot set lies where first touch put it on the slow tier.
LoopSetup gups(const testing::FakeMemory& memory, std::uint64_t seed) {
  LoopSetup setup;
  setup.memory = memory;
  setup.popularity = hot_set(leaf_count, hot_leaves, 120);
  setup.capacity = {fast_leaves * leaf_pages, leaf_count * leaf_pages};
  setup.leaf_pages = leaf_pages;
  setup.seed = seed;
  return setup;
}

class Seeds : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(GetParam())); }
};

TEST_P(Seeds, UnloadedItEndsAtTheBestAndRests) {
  TieringLoop loop(gups(colloid_fit_a(135, 0), GetParam()));
  EXPECT_LT(loop.throughput(), 0.7 * loop.best());
  loop.run(60);
  EXPECT_GE(loop.throughput(), 0.99 * loop.best());
  const double moved = loop.moved_bytes();
  loop.run(60);
  EXPECT_LE(loop.moved_bytes() - moved, 0.01 * moved);
  EXPECT_FALSE(loop.overfull());
}

TEST_P(Seeds, UnderLoadItEndsWithinThreePercentOfTheBest) {
  for (const auto& memory : {colloid_fit_a(135, 1), colloid_fit_a(192, 2), colloid_fit_b(148, 3)}) {
    TieringLoop loop(gups(memory, GetParam()));
    loop.run(120);
    EXPECT_GE(loop.throughput(), 0.97 * loop.best());
    EXPECT_FALSE(loop.overfull());
  }
}

TEST_P(Seeds, FollowsALoadWithinItsBound) {
  TieringLoop loop(gups(colloid_fit_a(135, 0), GetParam()));
  loop.run(60);
  loop.setup().memory = colloid_fit_a(135, 3);
  loop.solve();
  const double before = loop.moved_bytes();
  const Nanoseconds from = loop.now();
  while (loop.throughput() < 0.95 * loop.best() && loop.now() - from < seconds(60)) loop.tick();
  const double bytes = loop.moved_bytes() - before;
  EXPECT_LE(static_cast<double>((loop.now() - from).count) / 1e9, 1.5 * bytes / 2e9 + 3);
}

TEST_P(Seeds, FollowsAShiftOfTheHotSetWithinItsBound) {
  TieringLoop loop(gups(colloid_fit_a(135, 0), GetParam()));
  loop.run(60);
  loop.setup().popularity = hot_set(leaf_count, hot_leaves, 0);
  loop.solve();
  EXPECT_LT(loop.throughput(), 0.8 * loop.best());
  const double before = loop.moved_bytes();
  const Nanoseconds from = loop.now();
  while (loop.throughput() < 0.95 * loop.best() && loop.now() - from < seconds(60)) loop.tick();
  const double bytes = loop.moved_bytes() - before;
  EXPECT_LE(static_cast<double>((loop.now() - from).count) / 1e9, 1.5 * bytes / 2e9 + 3);
}

TEST_P(Seeds, AUniformProgramIsLeftAlone) {
  LoopSetup setup = gups(colloid_fit_a(135, 0), GetParam());
  setup.popularity.assign(leaf_count, 1.0 / leaf_count);
  TieringLoop loop(setup);
  const double first_touch = loop.throughput();
  loop.run(120);
  EXPECT_GE(loop.throughput(), 0.999 * first_touch);
  EXPECT_LE(loop.moved_bytes(), 4096.0 * leaf_pages * leaf_count / 50);
}

INSTANTIATE_TEST_SUITE_P(Tiering, Seeds, ::testing::Range<std::uint64_t>(1, 6));

TEST(Tiering, FirstTouchPlansNothing) {
  LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
  setup.parameters = preset_of(PolicyKind::first_touch);
  TieringLoop loop(setup);
  loop.run(30);
  EXPECT_EQ(loop.moved_bytes(), 0);
}

TEST(Tiering, WithoutTheMarginalStepLoadCostsMore) {
  LoopSetup setup = gups(colloid_fit_a(135, 1), 1);
  setup.parameters.mechanisms.marginal_step = false;
  TieringLoop equal(setup);
  equal.run(120);
  TieringLoop on(gups(colloid_fit_a(135, 1), 1));
  on.run(120);
  EXPECT_GT(on.throughput(), 1.01 * equal.throughput());
}

TEST(Tiering, WithoutTheChangeDetectorAShiftIsFollowedLater) {
  const auto recovery = [](const Parameters& parameters) {
    LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
    setup.parameters = parameters;
    TieringLoop loop(setup);
    loop.run(60);
    loop.setup().popularity = hot_set(leaf_count, hot_leaves, 0);
    loop.solve();
    const Nanoseconds from = loop.now();
    while (loop.throughput() < 0.95 * loop.best() && loop.now() - from < seconds(100)) loop.tick();
    return loop.now() - from;
  };
  Parameters deaf = preset_of(PolicyKind::balance);
  deaf.mechanisms.change_detector = false;
  EXPECT_GT(recovery(deaf).count, recovery(preset_of(PolicyKind::balance)).count * 3 / 2);
}

TEST(Tiering, WithoutAdmissionNoiseMovesMemory) {
  LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
  setup.window_s = 0.00002;  // few touches: much noise
  TieringLoop on(setup);
  setup.parameters.mechanisms.admission = false;
  TieringLoop off(setup);
  on.run(120);
  off.run(120);
  EXPECT_GT(off.moved_bytes(), 2 * on.moved_bytes());
}

TEST(Tiering, TheGuardStopsMovesThatDoNotPay) {
  // The hot set jumps to and fro every few seconds, and moving is dear.
  const auto moved = [](const Parameters& parameters) {
    LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
    setup.parameters = parameters;
    setup.parameters.mechanisms.change_detector = false;
    TieringLoop loop(setup);
    for (int jump = 0; jump < 40; ++jump) {
      loop.run(6);
      loop.setup().popularity = hot_set(leaf_count, hot_leaves, jump % 2 == 0 ? 0 : 120);
      loop.solve();
    }
    return loop.moved_bytes();
  };
  Parameters off = preset_of(PolicyKind::balance);
  off.mechanisms.guard = false;
  EXPECT_LT(moved(preset_of(PolicyKind::balance)), 0.8 * moved(off));
}

TEST(Tiering, CapacityKeepsItsSlowdownAndFreesFastMemory) {
  LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
  setup.popularity = hot_set(leaf_count, hot_leaves / 2, 0);
  setup.capacity = {leaf_count * leaf_pages, leaf_count * leaf_pages};
  setup.parameters = preset_of(PolicyKind::capacity);
  TieringLoop loop(setup);
  const double all_fast = loop.throughput();
  loop.run(120);
  EXPECT_GE(loop.throughput(), 0.94 * all_fast);
  EXPECT_LE(loop.used(0), 0.5 * leaf_count * leaf_pages);
}

TEST(Tiering, InterleaveSpreadsPagesByBandwidthAndRests) {
  LoopSetup setup = gups(colloid_fit_a(135, 0), 1);
  setup.capacity = {leaf_count * leaf_pages, leaf_count * leaf_pages};
  setup.parameters = preset_of(PolicyKind::interleave);
  TieringLoop loop(setup);
  loop.run(60);
  // 205 and 84.9 GB/s.
  const double share = static_cast<double>(loop.used(0)) / (leaf_count * leaf_pages);
  EXPECT_NEAR(share, 205 / 289.9, 0.02);
  const double moved = loop.moved_bytes();
  loop.run(20);
  EXPECT_EQ(loop.moved_bytes(), moved);
}

TEST(Tiering, ExplainsWhyALeafStaysAndWhyItMoved) {
  TieringLoop loop(gups(colloid_fit_a(135, 0), 1));
  loop.run(60);
  const Explanation hot = loop.tiering().explain(150, loop.now());
  EXPECT_EQ(hot.verdict, Verdict::promoted);
  EXPECT_EQ(hot.tier, TierIndex{0});
  EXPECT_GE(hot.rate_micro, hot.hot_rate_micro);
  const Explanation cold = loop.tiering().explain(250, loop.now());
  EXPECT_EQ(cold.tier, TierIndex{1});
  EXPECT_LT(cold.rate_micro, hot.rate_micro / 4);
  EXPECT_NE(cold.verdict, Verdict::promoted);
}

TEST(Tiering, SameInputsSamePlan) {
  TieringLoop a(gups(colloid_fit_a(135, 2), 9));
  TieringLoop b(gups(colloid_fit_a(135, 2), 9));
  for (int i = 0; i < 200; ++i) {
    a.tick();
    b.tick();
    ASSERT_EQ(a.moved_bytes(), b.moved_bytes()) << i;
  }
}

TEST(Tiering, PlacesNewMemoryFastUntilItKnowsBetter) {
  TieringLoop loop(gups(colloid_fit_a(135, 0), 1));
  loop.run(5);
  EXPECT_EQ(loop.tiering().place(0, {4096}).weight[0], placement_one);
}

}  // namespace
}  // namespace cxltier
