// SPDX-License-Identifier: Apache-2.0
//
// Heat over time and over changing extents.
#include "policy/region_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace cxltier {
namespace {

Observation seen_at(std::uint64_t first, std::uint32_t pages, std::uint32_t touched) {
  return {.first_page = {first},
          .page_count = pages,
          .touched_pages = touched,
          .visibility = Visibility::seen,
          .resident = {pages / 4, pages - pages / 4}};
}

std::vector<Region> update(const std::vector<Region>& before, const std::vector<Observation>& seen,
                           Nanoseconds elapsed) {
  std::vector<Region> after(seen.size());
  EXPECT_EQ(update_regions(before, seen, elapsed, after), seen.size());
  EXPECT_TRUE(is_valid(std::span<const Region>(after)));
  return after;
}

// A map of one region that was seen `scans` times with the same share.
std::vector<Region> steady(std::uint32_t touched, int scans) {
  std::vector<Region> map;
  for (int i = 0; i < scans; ++i) map = update(map, {seen_at(100, 100, touched)}, seconds(1));
  return map;
}

double share(Heat heat) { return heat.value / double{heat_max}; }

TEST(RegionMap, HeatIsTheTouchedShareOfResidentPages) {
  Observation half_resident = seen_at(100, 100, 30);
  half_resident.resident = {20, 40};
  const std::vector<Region> map = update({}, {half_resident}, seconds(1));
  EXPECT_NEAR(share(map[0].heat_short), 0.5, 1e-4);
  EXPECT_NEAR(share(map[0].heat_long), 0.5, 1e-4);
}

TEST(RegionMap, TheSecondScanReplacesTheFirst) {
  // The first interval of a region contains the faults that brought it in.
  std::vector<Region> map = update({}, {seen_at(100, 100, 100)}, seconds(1));
  map = update(map, {seen_at(100, 100, 10)}, seconds(1));
  EXPECT_NEAR(share(map[0].heat_long), 0.1, 1e-4);
  EXPECT_EQ(map[0].scans, 2);
}

TEST(RegionMap, ForgetsWithItsTimeConstantsWhateverTheInterval) {
  for (const std::uint64_t interval_ms : {500u, 1000u, 2500u, 5000u}) {
    std::vector<Region> map = steady(100, 60);
    for (std::uint64_t ms = 0; ms < 5000; ms += interval_ms) {
      map = update(map, {seen_at(100, 100, 0)}, milliseconds(interval_ms));
    }
    EXPECT_NEAR(share(map[0].heat_short), std::exp(-5.0), 0.005) << interval_ms;
    EXPECT_NEAR(share(map[0].heat_long), std::exp(-0.5), 0.005) << interval_ms;
  }
}

TEST(RegionMap, ASteadyHeatIsReachedExactlyFromBothSides) {
  for (const std::uint32_t before : {0u, 100u}) {
    std::vector<Region> map = steady(before, 20);
    for (int i = 0; i < 400; ++i) map = update(map, {seen_at(100, 100, 40)}, seconds(1));
    EXPECT_EQ(map[0].heat_short.value, map[0].heat_long.value);
    EXPECT_NEAR(share(map[0].heat_long), 0.4, 1e-4);
  }
}

TEST(RegionMap, ScoreIsFourTenthsShortAndSixTenthsLong) {
  Region region;
  region.heat_short = {10000};
  EXPECT_EQ(score_of(region), 4000);
  region.heat_long = {10000};
  EXPECT_EQ(score_of(region), 10000);
  region.heat_short = region.heat_long = {heat_max};
  EXPECT_EQ(score_of(region), heat_max);
}

// One page of a hundred that is touched in every scan, beside a region that is as hot by chance.
TEST(RegionMap, WhatIsTouchedInEveryScanRanksAboveAnEqualThatIsNot) {
  std::vector<Region> map = update({}, {seen_at(0, 100, 0), seen_at(100, 100, 0)}, seconds(1));
  for (int i = 0; i < 40; ++i) {
    const std::uint32_t by_chance = i % 2 == 0 ? 2 : 0;
    map = update(map, {seen_at(0, 100, 1), seen_at(100, 100, by_chance)}, seconds(1));
  }
  EXPECT_NEAR(share(map[0].heat_long), share(map[1].heat_long), 0.001);
  EXPECT_EQ(map[0].steady, steady_max);
  EXPECT_EQ(map[1].steady, 0);
  EXPECT_NEAR((score_of(map[0]) - score_of(map[1])) / 65535.0, 0.2, 0.02);
}

TEST(RegionMap, UnknownKeepsHeatAndUpdatesPlacement) {
  std::vector<Region> map = steady(60, 10);
  Observation shared_with_child = seen_at(100, 100, 100);
  shared_with_child.visibility = Visibility::unknown;
  shared_with_child.resident = {7, 93};
  const std::vector<Region> after = update(map, {shared_with_child}, seconds(30));
  EXPECT_EQ(after[0].heat_long.value, map[0].heat_long.value);
  EXPECT_EQ(after[0].scans, map[0].scans);
  EXPECT_EQ(after[0].resident[0], 7u);
}

TEST(RegionMap, AnIntervalOfZeroSaysNothingOfHeat) {
  const std::vector<Region> map = steady(60, 10);
  const std::vector<Region> after = update(map, {seen_at(100, 100, 0)}, {0});
  EXPECT_EQ(after[0].heat_short.value, map[0].heat_short.value);
  EXPECT_EQ(after[0].scans, map[0].scans);
}

TEST(RegionMap, MemoryThatWasGivenBackStartsAnew) {
  Observation empty = seen_at(100, 100, 0);
  empty.resident = {};
  const std::vector<Region> after = update(steady(90, 10), {empty}, seconds(1));
  EXPECT_EQ(after[0].scans, 0);
  EXPECT_EQ(score_of(after[0]), 0);
}

TEST(RegionMap, BothHalvesOfASplitInherit) {
  const std::vector<Region> after =
      update(steady(100, 260), {seen_at(100, 50, 50), seen_at(150, 50, 0)}, milliseconds(1));
  EXPECT_GT(share(after[0].heat_long), 0.99);
  EXPECT_GT(share(after[1].heat_long), 0.99);
  EXPECT_EQ(after[1].scans, 255);
}

TEST(RegionMap, AMergedRegionInheritsByOverlapAndTheCarefulHistory) {
  std::vector<Region> map;
  for (int i = 0; i < 260; ++i) {
    map = update(map, {seen_at(100, 30, 30), seen_at(130, 70, 0)}, seconds(1));
  }
  map[0].epochs_hot = 9;
  map[0].wish = TierIndex{0};
  map[1].wish = TierIndex{1};
  map[1].reversals = 3;
  map[1].last_move = Direction::demote;
  map[1].moved_at = seconds(7);
  const std::vector<Region> after = update(map, {seen_at(100, 100, 30)}, milliseconds(1));
  EXPECT_NEAR(share(after[0].heat_long), 0.3, 0.01);
  EXPECT_EQ(after[0].epochs_hot, 0);
  EXPECT_EQ(after[0].wish, TierIndex{1});
  EXPECT_EQ(after[0].reversals, 3);
  EXPECT_EQ(after[0].last_move, Direction::demote);
  EXPECT_EQ(after[0].moved_at, seconds(7));
}

TEST(RegionMap, TheNewPartOfAGrownRegionIsAsHotAsObserved) {
  // 100 cold pages grew by 100: half of the extent is new, and the whole is seen fully touched.
  const std::vector<Region> after =
      update(steady(0, 260), {seen_at(100, 200, 200)}, milliseconds(1));
  EXPECT_NEAR(share(after[0].heat_long), 0.5, 0.01);
}

TEST(RegionMap, NeighboursThatTouchOnlyAtTheEdgeDoNotMix) {
  const std::vector<Region> after =
      update(steady(100, 260), {seen_at(50, 50, 0), seen_at(200, 10, 0)}, seconds(1));
  EXPECT_EQ(score_of(after[0]), 0);
  EXPECT_EQ(score_of(after[1]), 0);
}

TEST(RegionMap, EarlyScansCountAlikeUntilTheTimeConstantRules) {
  std::vector<Region> map = steady(100, 2);
  map = update(map, {seen_at(100, 100, 0)}, seconds(1));
  EXPECT_NEAR(share(map[0].heat_long), 0.5, 1e-4);
  // The short average forgets faster than a mean of two: exp(-1).
  EXPECT_NEAR(share(map[0].heat_short), std::exp(-1.0), 0.001);
}

TEST(RegionMap, ANewExtentForgetsWhereACutMoveStopped) {
  std::vector<Region> map = steady(50, 5);
  map[0].next_offset = 40;
  EXPECT_EQ(update(map, {seen_at(100, 100, 50)}, seconds(1))[0].next_offset, 40u);
  EXPECT_EQ(update(map, {seen_at(100, 50, 50)}, seconds(1))[0].next_offset, 0u);
}

TEST(RegionMap, InvalidMapsAreRecognised) {
  std::vector<Region> map = {{.first_page = {10}, .page_count = 10},
                             {.first_page = {20}, .page_count = 10}};
  EXPECT_TRUE(is_valid(std::span<const Region>(map)));
  map[1].first_page = {19};
  EXPECT_FALSE(is_valid(std::span<const Region>(map)));
  map[1] = {.first_page = {20}, .page_count = 0};
  EXPECT_FALSE(is_valid(std::span<const Region>(map)));
  map[1] = {.first_page = {20}, .page_count = 10, .resident = {6, 5}};
  EXPECT_FALSE(is_valid(std::span<const Region>(map)));
  map[1] = {.first_page = {20}, .page_count = 10, .next_offset = 10};
  EXPECT_FALSE(is_valid(std::span<const Region>(map)));
}

// A random layout of up to 40 regions with random shares.
std::vector<Observation> random_layout(std::mt19937_64& random) {
  std::vector<Observation> seen;
  std::uint64_t at = random() % 50;
  for (std::uint64_t i = random() % 40; i > 0; --i) {
    Observation now = seen_at(at, static_cast<std::uint32_t>(1 + random() % 300), 0);
    now.touched_pages = static_cast<std::uint32_t>(random() % 400);  // more than there are, too
    now.resident = {static_cast<std::uint32_t>(random() % now.page_count)};
    now.resident[1] = static_cast<std::uint32_t>(random() % (now.page_count - now.resident[0] + 1));
    now.visibility = random() % 5 == 0 ? Visibility::unknown : Visibility::seen;
    at += now.page_count + (random() % 3 == 0 ? random() % 100 : 0);
    seen.push_back(now);
  }
  return seen;
}

TEST(RegionMapProperty, AnyRelayoutKeepsTheMapValidAndHeatBetweenWhatWasSeen) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<Region> map;
    for (int scan = 0; scan < 20; ++scan) {
      const std::vector<Observation> seen = random_layout(random);
      ASSERT_TRUE(is_valid(std::span<const Observation>(seen)));
      std::uint16_t hottest = 0;
      for (const Region& region : map) {
        hottest = std::max({hottest, region.heat_short.value, region.heat_long.value});
      }
      map = update(map, seen, {random() % seconds(60).count});
      for (std::size_t i = 0; i < map.size(); ++i) {
        EXPECT_EQ(map[i].first_page, seen[i].first_page);
        EXPECT_EQ(map[i].page_count, seen[i].page_count);
        // A mean of old heats and the new one is never above the greatest of them.
        const double resident = static_cast<double>(resident_pages(map[i]).count);
        const double now = resident == 0 ? 0 : std::min(1.0, seen[i].touched_pages / resident);
        const double most = std::max(hottest / double{heat_max}, now) + 2.0 / heat_max;
        EXPECT_LE(share(map[i].heat_short), most);
        EXPECT_LE(share(map[i].heat_long), most);
      }
    }
  }
}

}  // namespace
}  // namespace cxltier
