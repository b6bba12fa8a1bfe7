// SPDX-License-Identifier: Apache-2.0
//
// Maps small enough to plan by hand, one mechanism at a time, and what holds of every plan.
#include "policy/leaf_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace cxltier {
namespace {

constexpr std::uint32_t pages = 512;

Rate touches(double per_second) {
  return rate_of(static_cast<std::uint64_t>(per_second * 4194304));
}

class Map {
 public:
  Map(std::vector<std::uint64_t> capacity_leaves) : moves_(256), choices_(256) {
    input.tier_count = static_cast<std::uint8_t>(capacity_leaves.size());
    input.now = seconds(1'000);
    input.target.fill(share16_max);
    input.latency_ps = {80'000, 200'000, 400'000};
    input.mean_latency_ps = 120'000;
    input.short_32 = 13;
    input.page_cost_ns = 100;
    input.pages_max = 1'000'000;
    input.tick = seconds(1);
    input.wishes = 1;
    input.earned_from.fill(Rate{0xffff - 4096});
    for (std::size_t t = 0; t < capacity_leaves.size(); ++t) {
      input.capacity[t] = {capacity_leaves[t] * pages};
    }
  }

  // A leaf with a settled heat that has earned the fastest tier for a while.
  Leaf& add(std::size_t tier, double rate) {
    Leaf leaf;
    Residence resident{};
    resident[tier] = pages;
    place_leaf(leaf, resident, 0);
    leaf.rate_short = leaf.rate_long = touches(rate);
    leaf.scans = 15;
    leaf.wish = 0;
    leaf.epochs = 60;
    leaves.push_back(leaf);
    return leaves.back();
  }

  std::vector<LeafMove> plan() {
    input.used = {};
    input.mass = 0;
    std::array<std::uint64_t, tiers_max> mass{};
    for (const Leaf& leaf : leaves) {
      for (std::size_t t = 0; t < input.tier_count; ++t) {
        input.used[t] += Pages{pages_on(leaf, t)};
        mass[t] += linear_of(leaf.rate_long) * pages_on(leaf, t);
      }
    }
    input.mass = std::accumulate(mass.begin(), mass.end(), std::uint64_t{0});
    for (std::size_t t = 0; t < input.tier_count; ++t) {
      input.share[t] = static_cast<Share16>(
          std::min<std::uint64_t>(share16_max, mass[t] / ((input.mass >> 16) + 1)));
    }
    result = plan_leaves(leaves, input, parameters, {choices_, moves_});
    return {moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>(result.moves)};
  }

  [[nodiscard]] Verdict verdict(std::size_t leaf) const {
    return static_cast<Verdict>(leaves[leaf].verdict);
  }

  PlanInput input;
  Parameters parameters = preset_of(PolicyKind::balance);
  std::vector<Leaf> leaves;
  PlanResult result;

 private:
  std::vector<LeafMove> moves_;
  std::vector<LeafChoice> choices_;
};

TEST(LeafPlanner, TheHottestGoesUpIntoFreeRoom) {
  Map map({1, 4});
  map.add(1, 1);
  map.add(1, 50);
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].leaf, 1u);
  EXPECT_EQ(moves[0].to, TierIndex{0});
  EXPECT_EQ(moves[0].reason, Verdict::promoted);
  EXPECT_EQ(map.verdict(1), Verdict::promoted);
  EXPECT_EQ(map.verdict(0), Verdict::no_room);
}

TEST(LeafPlanner, AFullTierTradesItsColdestForAHotterOne) {
  Map map({2, 4});
  map.add(0, 30);
  map.add(0, 1);
  map.add(1, 50);
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].leaf, 1u);
  EXPECT_EQ(moves[0].reason, Verdict::demoted);
  EXPECT_EQ(moves[1].leaf, 2u);
}

TEST(LeafPlanner, NearlyAsHotIsNotHotter) {
  Map map({1, 4});
  map.add(0, 10);
  map.add(1, 12);
  EXPECT_TRUE(map.plan().empty());
  EXPECT_EQ(map.verdict(1), Verdict::below_margin);
  map.parameters.mechanisms.admission = false;
  EXPECT_EQ(map.plan().size(), 2u) << "without admission it trades";
}

TEST(LeafPlanner, ADifferenceWithinTheNoiseIsNone) {
  Map map({1, 4});
  map.add(0, 10);
  map.add(1, 14);
  EXPECT_EQ(map.plan().size(), 2u);
  // 64 pages in 1 ms: one touch is 15.6 a second.
  map.input.noise = {.touch_q22 = std::uint64_t{1000} << 22,
                     .sampled_pages = 64,
                     .short_q16 = 30'000,
                     .long_q16 = 3'300};
  EXPECT_TRUE(map.plan().empty());
  EXPECT_EQ(map.verdict(1), Verdict::below_margin);
}

TEST(LeafPlanner, OneAverageAloneIsNotBelieved) {
  Map map({1, 4});
  map.add(0, 10);
  map.add(1, 50).rate_long = touches(5);
  EXPECT_TRUE(map.plan().empty());
  map.leaves[1].rate_long = touches(50);
  map.leaves[1].rate_short = touches(5);
  EXPECT_TRUE(map.plan().empty());
}

TEST(LeafPlanner, AMoveMustEarnWhatItCosts) {
  Map map({1, 4});
  map.add(0, 1);
  map.add(1, 50);
  map.input.page_cost_ns = 100'000'000;
  EXPECT_TRUE(map.plan().empty());
  EXPECT_EQ(map.verdict(1), Verdict::below_cost);
}

TEST(LeafPlanner, ASlowerFastTierEarnsNothing) {
  Map map({1, 4});
  map.add(0, 1);
  map.add(1, 50);
  map.input.latency_ps = {300'000, 200'000};
  EXPECT_TRUE(map.plan().empty());
  EXPECT_EQ(map.verdict(1), Verdict::below_cost);
}

TEST(LeafPlanner, WaitsForScansEpochsTurnsAndRefusals) {
  Map map({8, 8});
  map.add(1, 50).scans = 1;
  map.add(1, 50).epochs = 1;
  Leaf& turned = map.add(1, 50);
  note_move(turned, Direction::demote, map.input.now - seconds(1), seconds(5), 7);
  Leaf& refused = map.add(1, 50);
  note_refusal(refused, map.input.now, seconds(1), 6);
  map.add(1, 50);
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].leaf, 4u);
  EXPECT_EQ(map.verdict(0), Verdict::waits_scans);
  EXPECT_EQ(map.verdict(1), Verdict::waits_epochs);
  EXPECT_EQ(map.verdict(2), Verdict::waits_turn);
  EXPECT_EQ(map.verdict(3), Verdict::waits_retry);
  map.input.now = map.input.now + seconds(30);
  EXPECT_EQ(map.plan().size(), 3u) << "the waits are over, two more";
}

TEST(LeafPlanner, ABudgetIsKeptAndTheRestIsTold) {
  Map map({8, 8});
  for (int i = 0; i < 4; ++i) map.add(1, 50 - i * 10);
  map.input.pages_max = 2 * pages;
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].leaf, 0u);
  EXPECT_EQ(map.verdict(3), Verdict::waits_budget);
}

TEST(LeafPlanner, AnOverfullTierIsRelievedOfItsColdestWhateverTheBudget) {
  Map map({1, 8});
  map.add(0, 50);
  map.add(0, 1);
  map.input.pages_max = 0;
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].leaf, 1u);
  EXPECT_EQ(moves[0].reason, Verdict::relieved);
}

TEST(LeafPlanner, AnOverfullTierAboveAFullOneSaysSo) {
  Map map({1, 1});
  map.add(0, 50);
  map.add(0, 1);
  map.add(1, 1);
  EXPECT_TRUE(map.plan().empty());
  EXPECT_EQ(map.verdict(1), Verdict::no_room);
}

TEST(LeafPlanner, LoweringShedsStreamsFirstThenTheHottest) {
  Map map({4, 8});
  map.add(0, 10);
  map.add(0, 40);
  map.add(0, 10).pattern = static_cast<std::uint8_t>(Pattern::stream);
  map.input.target[0] = 1;
  const auto moves = map.plan();
  ASSERT_GE(moves.size(), 2u);
  EXPECT_EQ(moves[0].leaf, 2u);
  EXPECT_EQ(moves[0].reason, Verdict::shed_stream);
  EXPECT_EQ(moves[1].leaf, 1u);
  EXPECT_EQ(moves[1].reason, Verdict::balanced_down);
}

TEST(LeafPlanner, LoweringForCapacityTakesTheColdest) {
  Map map({4, 8});
  map.add(0, 100);
  map.add(0, 1);
  map.add(0, 2);
  map.input.shed = Shed::coldest;
  map.input.target[0] = static_cast<Share16>(share16_max * 0.97);
  const auto moves = map.plan();
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].leaf, 1u);
  EXPECT_EQ(moves[1].leaf, 2u);
}

TEST(LeafPlanner, SharesThatAreMetAreLeft) {
  Map map({4, 8});
  map.add(0, 50);
  map.add(1, 50);
  map.input.target[0] = share16_max / 2;
  EXPECT_TRUE(map.plan().empty());
}

TEST(LeafPlanner, SaturatedLeavesAreShedLast) {
  Map map({4, 8});
  map.add(0, 10'000);
  map.add(0, 900);
  map.input.noise = {.touch_q22 = std::uint64_t{1000} << 22, .sampled_pages = 64};
  map.input.target[0] = share16_max / 100 * 95;
  const auto moves = map.plan();
  ASSERT_GE(moves.size(), 1u);
  EXPECT_EQ(moves[0].leaf, 1u);
}

TEST(LeafPlanner, AUniformRegionIsInterleavedEvenly) {
  Map map({128, 256});
  for (int i = 0; i < 128; ++i) map.add(0, 10);
  map.input.target[0] = share16_max / 2;
  std::set<std::uint32_t> moved;
  for (const LeafMove& move : map.plan()) moved.insert(move.leaf);
  ASSERT_NEAR(static_cast<double>(moved.size()), 64, 2);
  std::uint32_t previous = 0;
  for (const std::uint32_t leaf : moved) {
    EXPECT_LE(leaf - previous, 4u);
    previous = leaf;
  }
}

TEST(LeafPlanner, RatiosPutEachLeafWhereItsSlotIs) {
  Map map({256, 256});
  for (int i = 0; i < 128; ++i) map.add(0, i % 7);
  map.input.slots_of = {96, 32};
  const auto moves = map.plan();
  EXPECT_EQ(moves.size(), 32u);
  for (const LeafMove& move : moves) shift_leaf(map.leaves[move.leaf], move.to, pages);
  EXPECT_TRUE(map.plan().empty()) << "and then it rests";
}

// Executes a plan page by page and checks what must hold after each move.
void check_plan(Map& map, const std::vector<LeafMove>& moves) {
  std::array<std::int64_t, tiers_max> free{};
  for (std::size_t t = 0; t < map.input.tier_count; ++t) {
    free[t] = static_cast<std::int64_t>(map.input.capacity[t].count) -
              static_cast<std::int64_t>(map.input.used[t].count);
  }
  std::set<std::uint32_t> seen;
  std::uint64_t total = 0;
  std::uint64_t over = 0;
  for (std::size_t t = 0; t < map.input.tier_count; ++t) {
    if (free[t] < 0) over += static_cast<std::uint64_t>(-free[t]);
  }
  for (const LeafMove& move : moves) {
    EXPECT_TRUE(seen.insert(move.leaf).second) << "a leaf twice";
    const std::size_t to = index_of(move.to);
    const Leaf& leaf = map.leaves[move.leaf];
    EXPECT_LE(move.pages.count, pages_to_move(leaf, move.to));
    EXPECT_GT(move.pages.count, 0u);
    const bool was_within = free[to] >= 0;
    free[to] -= static_cast<std::int64_t>(move.pages.count);
    free[index_of(move.from)] += static_cast<std::int64_t>(move.pages.count);
    if (was_within) {
      EXPECT_GE(free[to], 0) << "a tier passed its capacity";
    }
    total += move.pages.count;
  }
  EXPECT_LE(total, std::max(map.input.pages_max, 2 * over + pages));
}

TEST(LeafPlanner, EveryPlanKeepsItsInvariants) {
  std::printf("seeds 1 to 300\n");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t tiers = 2 + random() % 2;
    std::vector<std::uint64_t> capacity;
    for (std::size_t t = 0; t < tiers; ++t) capacity.push_back(20 + random() % 60);
    Map map(capacity);
    for (int i = 0; i < 100; ++i) {
      Leaf& leaf = map.add(random() % tiers, static_cast<double>(random() % 1000) / 10);
      leaf.epochs = static_cast<std::uint8_t>(random() % 4);
      leaf.wish = random() % 2 == 0 ? 0 : wish_own;
      if (random() % 4 == 0) leaf.pattern = static_cast<std::uint8_t>(Pattern::stream);
      if (random() % 5 == 0) shift_leaf(leaf, TierIndex{0}, random() % pages);
    }
    map.input.pages_max = random() % (60 * pages);
    for (std::size_t t = 0; t + 1 < tiers; ++t) {
      if (random() % 2 == 0) map.input.target[t] = static_cast<Share16>(random());
    }
    const auto moves = map.plan();
    SCOPED_TRACE(seed);
    check_plan(map, moves);
    const auto again = map.plan();
    ASSERT_EQ(again.size(), moves.size()) << "same arguments, same plan";
    for (std::size_t i = 0; i < moves.size(); ++i) EXPECT_EQ(again[i].leaf, moves[i].leaf);
  }
}

}  // namespace
}  // namespace cxltier
