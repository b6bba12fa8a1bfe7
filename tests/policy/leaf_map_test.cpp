// SPDX-License-Identifier: Apache-2.0
//
// One leaf: heat over the first scans, placement that adds up, back-off, splitting and merging.
#include "policy/leaf_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>
#include <set>
#include <string>

namespace cxltier {
namespace {

constexpr Rate warm{20'000};
constexpr Rate hot{30'000};

Leaf leaf_on(std::size_t tier, std::uint32_t pages) {
  Leaf leaf;
  Residence resident{};
  resident[tier] = pages;
  place_leaf(leaf, resident, 0);
  return leaf;
}

TEST(LeafMap, FirstScanIsReplacedByTheSecond) {
  // The first interval contains the faults that brought the memory in.
  Leaf leaf = leaf_on(0, 512);
  const Fading fading = fading_of(seconds(1));
  observe_leaf(leaf, hot, Rate{}, fading);
  EXPECT_EQ(leaf.rate_long, hot);
  observe_leaf(leaf, warm, Rate{}, fading);
  EXPECT_EQ(leaf.rate_short, warm);
  EXPECT_EQ(leaf.rate_long, warm);
}

TEST(LeafMap, SteadyHeatStaysAndUntouchedHeatFades) {
  Leaf leaf = leaf_on(0, 512);
  const Fading fading = fading_of(seconds(1));
  for (int i = 0; i < 30; ++i) observe_leaf(leaf, hot, Rate{}, fading);
  EXPECT_EQ(leaf.rate_short, hot);
  EXPECT_EQ(leaf.rate_long, hot);
  fade(leaf, fading);
  EXPECT_LT(leaf.rate_short, leaf.rate_long);
  EXPECT_LT(leaf.rate_long, hot);
}

TEST(LeafMap, AMissingLeafHasNoHeat) {
  Leaf leaf;
  observe_leaf(leaf, hot, hot, fading_of(seconds(1)));
  EXPECT_EQ(leaf.rate_short, Rate{});
  leaf = leaf_on(1, 512);
  observe_leaf(leaf, hot, hot, fading_of(seconds(1)));
  place_leaf(leaf, Residence{}, 0);
  EXPECT_EQ(leaf.rate_short, Rate{});
  EXPECT_TRUE(is_valid(std::span(&leaf, 1)));
}

TEST(LeafMap, PagesAddUpWhateverMoves) {
  std::printf("seed 5\n");
  std::mt19937_64 random(5);
  for (int round = 0; round < 2'000; ++round) {
    const auto pages = static_cast<std::uint32_t>(1 + random() % 60'000);
    Leaf leaf = leaf_on(random() % 3, pages);
    std::uint32_t on_fast = pages_on(leaf, 0);
    for (int move = 0; move < 4; ++move) {
      const bool up = random() % 2 == 0;
      const auto most = up ? pages - on_fast : on_fast;
      const auto count = static_cast<std::uint32_t>(most == 0 ? 0 : random() % (most + 1));
      // Two tiers: what leaves the one is on the other.
      if (leaf.tier > 1 || leaf.other > 1) break;
      shift_leaf(leaf, static_cast<TierIndex>(up ? 0 : 1), count);
      on_fast = up ? on_fast + count : on_fast - count;
      ASSERT_EQ(pages_on(leaf, 0), on_fast);
      ASSERT_EQ(pages_on(leaf, 1), pages - on_fast);
      ASSERT_EQ(leaf.pages, pages);
    }
  }
}

TEST(LeafMap, BackOffDoublesWithReversalsAndForgivesLateTurns) {
  Leaf leaf = leaf_on(1, 512);
  note_move(leaf, Direction::promote, seconds(100), seconds(5), 7);
  EXPECT_EQ(leaf.reversals, 0);
  note_move(leaf, Direction::demote, seconds(110), seconds(5), 7);  // within 20 s
  EXPECT_EQ(leaf.reversals, 1);
  note_move(leaf, Direction::promote, seconds(140), seconds(5), 7);  // within 40 s
  EXPECT_EQ(leaf.reversals, 2);
  note_move(leaf, Direction::demote, seconds(400), seconds(5), 7);  // long after
  EXPECT_EQ(leaf.reversals, 1);
}

TEST(LeafMap, RefusalsWaitLongerEachTime) {
  Leaf leaf = leaf_on(1, 512);
  note_refusal(leaf, seconds(100), seconds(1), 6);
  EXPECT_EQ(leaf_age(leaf.retry_at, seconds(101)).count, 0u);
  note_refusal(leaf, seconds(200), seconds(1), 6);
  EXPECT_EQ(leaf_age(leaf.retry_at, seconds(202)).count, 0u);
}

TEST(LeafMap, SplitAndMergeKeepPagesAndHeat) {
  std::printf("seed 11\n");
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    Leaf leaf = leaf_on(random() % 2, static_cast<std::uint32_t>(2 + random() % 30'000));
    leaf.rate_short = {static_cast<std::uint16_t>(random())};
    leaf.rate_long = {static_cast<std::uint16_t>(random())};
    leaf.reversals = 3;
    const auto at = static_cast<std::uint32_t>(1 + random() % (leaf.pages - 1));
    const LeafPair parts = split(leaf, at);
    EXPECT_EQ(parts.first.pages + parts.second.pages, leaf.pages);
    EXPECT_TRUE(may_merge(parts.first, parts.second, 13));
    const Leaf again = merged(parts.first, parts.second);
    EXPECT_EQ(again.pages, leaf.pages);
    EXPECT_EQ(again.tier, leaf.tier);
    EXPECT_EQ(again.reversals, leaf.reversals);
    EXPECT_NEAR(again.rate_long.code, leaf.rate_long.code, 1);
  }
}

TEST(LeafMap, UnlikeNeighboursAreNotMerged) {
  Leaf a = leaf_on(0, 512);
  Leaf b = leaf_on(0, 512);
  a.rate_short = a.rate_long = hot;
  b.rate_short = b.rate_long = Rate{static_cast<std::uint16_t>(hot.code - 400)};  // 20 % less
  EXPECT_FALSE(may_merge(a, b, 13));
  b.rate_short = b.rate_long = Rate{static_cast<std::uint16_t>(hot.code - 100)};
  EXPECT_TRUE(may_merge(a, b, 13));
  EXPECT_FALSE(may_merge(a, leaf_on(1, 512), 13));
}

TEST(LeafMap, MergedHeatIsTheMeanByPages) {
  Leaf a = leaf_on(0, 300);
  Leaf b = leaf_on(0, 100);
  a.rate_long = rate_of(std::uint64_t{4} << 22);
  b.rate_long = rate_of(std::uint64_t{8} << 22);
  EXPECT_NEAR(static_cast<double>(linear_of(merged(a, b).rate_long)) / 4194304, 5, 0.01);
}

TEST(LeafMap, EveryVerdictHasItsOwnWords) {
  std::set<std::string> texts;
  for (std::size_t i = 0; i < verdict_count; ++i) texts.insert(text_of(static_cast<Verdict>(i)));
  EXPECT_EQ(texts.size(), verdict_count);
}

TEST(LeafMap, BackoffDoublesAndSaturates) {
  EXPECT_EQ(backoff_of(seconds(5), 0), seconds(5));
  EXPECT_EQ(backoff_of(seconds(5), 3), seconds(40));
  EXPECT_EQ(backoff_of({0}, 200).count, 0u);
  EXPECT_EQ(backoff_of(seconds(5), 63).count, ~std::uint64_t{0});
  EXPECT_EQ(backoff_of(seconds(5), 255).count, ~std::uint64_t{0});
}

TEST(LeafMap, ALeafThatEveryScanSawTouchedHidesPagesUntilSeveralDidNot) {
  Leaf leaf{.pages = 100};
  for (int scan = 1; scan < steady_max; ++scan) note_touch(leaf, Touch::some);
  EXPECT_EQ(hidden_pages(leaf), 0u);
  note_touch(leaf, Touch::some);
  EXPECT_EQ(hidden_pages(leaf), 20u);
  note_touch(leaf, Touch::none);
  note_touch(leaf, Touch::none);
  EXPECT_EQ(hidden_pages(leaf), 20u) << "chance";
  note_touch(leaf, Touch::none);
  EXPECT_EQ(hidden_pages(leaf), 0u);
}

TEST(LeafMap, OfALargeLeafSomePageIsAlwaysTouchedWhichSaysNothing) {
  Leaf leaf{.pages = steady_leaf_pages_max + 1};
  for (int scan = 1; scan <= steady_max; ++scan) note_touch(leaf, Touch::some);
  EXPECT_EQ(hidden_pages(leaf), 0u);
}

Leaf leaf_with(std::uint32_t pages, std::uint16_t code, std::uint8_t scans) {
  Leaf leaf{.pages = pages, .rate_short = {code}, .rate_long = {code}};
  leaf.scans = scans & 0xf;
  return leaf;
}

TEST(LeafMap, CarriesLeavesOverByOverlap) {
  const std::array<Extent, 2> before{Extent{{100}, 64}, Extent{{200}, 64}};
  const std::array<Leaf, 2> leaves{leaf_with(64, 20'000, 9), leaf_with(32, 10'000, 4)};
  // Untouched; halved; joined with what is new; all new.
  const std::array<Extent, 5> after{Extent{{100}, 64}, Extent{{200}, 32}, Extent{{232}, 32},
                                    Extent{{264}, 64}, Extent{{500}, 8}};
  std::array<Leaf, 5> out;
  carry_leaves(before, leaves, after, out);
  EXPECT_EQ(out[0].rate_long, leaves[0].rate_long);
  EXPECT_EQ(out[0].scans, 9);
  EXPECT_EQ(out[1].pages, 16u);
  EXPECT_EQ(out[1].rate_long, leaves[1].rate_long);
  EXPECT_EQ(out[2].scans, 4);
  EXPECT_EQ(out[3].pages, 0u);
  EXPECT_EQ(out[4].scans, 0);

  const std::array<Extent, 1> joined{Extent{{100}, 164}};
  std::array<Leaf, 1> whole;
  carry_leaves(before, leaves, joined, whole);
  EXPECT_EQ(whole[0].pages, 96u);
  EXPECT_LT(whole[0].rate_long, leaves[0].rate_long);
  EXPECT_GT(whole[0].rate_long, leaves[1].rate_long);
  EXPECT_EQ(whole[0].scans, 4) << "the careful side";
}

TEST(LeafMap, ExtentsAreSortedApartAndNotEmpty) {
  using Extents = std::array<Extent, 2>;
  EXPECT_TRUE(is_valid(Extents{Extent{{1}, 4}, Extent{{5}, 1}}));
  EXPECT_FALSE(is_valid(Extents{Extent{{1}, 4}, Extent{{4}, 1}}));
  EXPECT_FALSE(is_valid(Extents{Extent{{1}, 4}, Extent{{8}, 0}}));
}

}  // namespace
}  // namespace cxltier
