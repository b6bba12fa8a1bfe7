// SPDX-License-Identifier: Apache-2.0
//
// Walks and chases, by the order of first touches.
#include "policy/access_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace cxltier {
namespace {

Pattern seen_in(const std::vector<PageIndex>& touches) {
  const OrderCount count = count_steps(touches, {4096});
  return pattern_of(count.steps, count.near);
}

TEST(AccessOrder, AWalkIsAStream) {
  std::vector<PageIndex> walk;
  for (std::uint64_t page = 0; page < 64; ++page) walk.push_back({page * 4});
  EXPECT_EQ(seen_in(walk), Pattern::stream);
}

TEST(AccessOrder, AShuffleIsAChase) {
  std::mt19937_64 random(1);
  std::vector<PageIndex> touches;
  for (int i = 0; i < 64; ++i) touches.push_back({random() % 18'432});
  EXPECT_EQ(seen_in(touches), Pattern::chase);
}

TEST(AccessOrder, BackwardsIsNoStream) {
  std::vector<PageIndex> walk;
  for (std::uint64_t page = 64; page > 0; --page) walk.push_back({page});
  EXPECT_EQ(seen_in(walk), Pattern::chase);
}

TEST(AccessOrder, SixtyFourKibibytesAreNearWhateverThePageSize) {
  const std::vector<PageIndex> steps = {{0}, {1}, {3}};
  EXPECT_EQ(count_steps(steps, {64u << 10}).near, 1);
  EXPECT_EQ(count_steps(steps, {4096}).near, 2);
}

TEST(AccessOrder, FewStepsOrAMixSayNothing) {
  EXPECT_EQ(pattern_of(7, 7), Pattern::unknown);
  EXPECT_EQ(pattern_of(100, 60), Pattern::unknown);
  EXPECT_EQ(pattern_of(100, 80), Pattern::stream);
  EXPECT_EQ(pattern_of(100, 39), Pattern::chase);
}

}  // namespace
}  // namespace cxltier
