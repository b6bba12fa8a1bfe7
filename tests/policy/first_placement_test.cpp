// SPDX-License-Identifier: Apache-2.0
//
// Where new memory goes: first touch, unless something better is known.
#include "policy/first_placement.h"

#include <gtest/gtest.h>

namespace cxltier {
namespace {

constexpr Rate hot{30'000};
constexpr Rate cold{10'000};
constexpr std::uint16_t site = 77;

PlacementInput half_full() {
  PlacementInput input{.call_site = site, .size = {64u << 20}, .tier_count = 2};
  input.used = {Pages{50}, Pages{50}};
  input.capacity = {Pages{100}, Pages{400}};
  input.target.fill(share16_max);
  input.hot = Rate{20'000};
  return input;
}

TEST(FirstPlacement, UnknownSitesGetTheFastestTier) {
  PlacementInput input = half_full();
  EXPECT_EQ(choose_first(input, {}).weight[0], placement_one);
  input.used[0] = {95};
  EXPECT_EQ(choose_first(input, {}).weight[0], placement_one);
}

TEST(FirstPlacement, ColdSitesLeaveTheLastTenthToOthers) {
  CallSiteHeat sites;
  for (int i = 0; i < 10; ++i) sites.learn(site, cold);
  PlacementInput input = half_full();
  EXPECT_EQ(choose_first(input, sites).weight[0], placement_one);
  input.used[0] = {95};
  EXPECT_EQ(choose_first(input, sites).weight[1], placement_one);
  CallSiteHeat hot_sites;
  for (int i = 0; i < 10; ++i) hot_sites.learn(site, hot);
  EXPECT_EQ(choose_first(input, hot_sites).weight[0], placement_one);
}

TEST(FirstPlacement, UnderLoadLargeBlocksAreSpreadByTheTarget) {
  PlacementInput input = half_full();
  input.target = {share16_max / 4, share16_max / 4 * 3};
  input.size = {std::uint64_t{2} << 30};
  const FirstPlacement spread = choose_first(input, {});
  EXPECT_NEAR(spread.weight[0], 16, 1);
  EXPECT_EQ(spread.weight[0] + spread.weight[1], placement_one);
  input.size = {64u << 20};
  EXPECT_EQ(choose_first(input, {}).weight[0], placement_one);
}

TEST(FirstPlacement, AFewSamplesDoNotMakeASiteKnown) {
  CallSiteHeat sites;
  sites.learn(site, cold);
  EXPECT_FALSE(sites.knows(site));
  sites.learn(0, cold);
  EXPECT_FALSE(sites.knows(0));
  for (int i = 0; i < 4; ++i) sites.learn(site, cold);
  EXPECT_TRUE(sites.knows(site));
  // A site that shares its line takes it over.
  sites.learn(site + 64, hot);
  EXPECT_FALSE(sites.knows(site));
}

}  // namespace
}  // namespace cxltier
