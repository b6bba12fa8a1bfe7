// SPDX-License-Identifier: Apache-2.0
//
// The bins against their definition, and the capacity fill on histograms that can be added up by
// hand.
#include "policy/heat_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cxltier {
namespace {

TEST(HeatHistogram, BinsAreFourPerOctave) {
  for (std::uint32_t score = 4; score <= heat_max; ++score) {
    const int octave = static_cast<int>(std::floor(std::log2(score)));
    const auto quarter = static_cast<std::size_t>((score / std::exp2(octave) - 1) * 4);
    const std::size_t expected = static_cast<std::size_t>(octave) * 4 + quarter;
    ASSERT_EQ(bin_of(static_cast<std::uint16_t>(score)), expected) << score;
  }
}

TEST(HeatHistogram, OnlyUntouchedMemoryIsInBinZero) {
  EXPECT_EQ(bin_of(0), 0u);
  EXPECT_GE(bin_of(1), 1u);
  EXPECT_EQ(bin_of(heat_max), heat_bins - 1);
}

TEST(HeatHistogram, FloorIsTheSmallestScoreThatReachesTheBin) {
  for (std::size_t bin = 0; bin < heat_bins; ++bin) {
    const std::uint16_t floor = bin_floor(bin);
    EXPECT_GE(bin_of(floor), bin);
    if (floor > 0) {
      EXPECT_LT(bin_of(static_cast<std::uint16_t>(floor - 1)), bin);
    }
  }
}

TEST(HeatHistogram, WeighsByResidentPages) {
  const std::vector<Region> regions = {
      {.first_page = {0}, .page_count = 100, .resident = {30, 20}, .heat_short = {}},
      {.first_page = {200},
       .page_count = 10,
       .resident = {0, 7},
       .heat_short = {heat_max},
       .heat_long = {heat_max}}};
  const HeatHistogram histogram = histogram_of(regions);
  EXPECT_EQ(histogram.pages[0].count, 50u);
  EXPECT_EQ(histogram.pages[heat_bins - 1].count, 7u);
}

TEST(FillCapacity, TakesTheHottestBinsThatFit) {
  HeatHistogram histogram;
  histogram.pages[60] = {400};
  histogram.pages[50] = {400};
  histogram.pages[40] = {400};
  const Thresholds thresholds = fill_capacity(histogram, {1000}, 0);
  EXPECT_EQ(thresholds.hot_pages.count, 800u);
  EXPECT_EQ(thresholds.hot, 41u);   // bin 40 would make it 1200
  EXPECT_EQ(thresholds.warm, 41u);  // 80 % full: no warm bin
}

TEST(FillCapacity, HeadroomIsNotFilled) {
  HeatHistogram histogram;
  histogram.pages[60] = {980};
  EXPECT_EQ(fill_capacity(histogram, {1000}, 20).hot_pages.count, 980u);
  EXPECT_EQ(fill_capacity(histogram, {1000}, 25).hot_pages.count, 0u);
}

TEST(FillCapacity, OneWarmBinIfTheHotOnesFillLessThanThreeQuarters) {
  HeatHistogram histogram;
  histogram.pages[60] = {700};
  histogram.pages[40] = {700};
  const Thresholds thresholds = fill_capacity(histogram, {1000}, 0);
  EXPECT_EQ(thresholds.hot, 41u);
  EXPECT_EQ(thresholds.warm, 40u);
}

TEST(FillCapacity, UntouchedMemoryIsNeverHot) {
  HeatHistogram histogram;
  histogram.pages[0] = {10};
  const Thresholds thresholds = fill_capacity(histogram, {~std::uint64_t{0}}, 25);
  EXPECT_EQ(thresholds.hot, 1u);
  EXPECT_EQ(thresholds.warm, 1u);
  EXPECT_EQ(thresholds.hot_pages.count, 0u);
}

}  // namespace
}  // namespace cxltier
