// SPDX-License-Identifier: Apache-2.0
//
// Each admission rule alone, at its edges, and with its parameter neutral.
#include "policy/admission.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cxltier {
namespace {

constexpr TierIndex fast{0};

Parameters hot_cold() { return preset_of(PolicyKind::hot_cold); }

Region region_of(double heat, std::uint32_t pages) {
  const auto value = static_cast<std::uint16_t>(std::lround(heat * heat_max));
  return {.first_page = {0},
          .page_count = pages,
          .resident = {0, pages},
          .heat_short = {value},
          .heat_long = {value},
          .scans = 10,
          .wish = fast,
          .epochs_hot = 10};
}

TEST(Admission, BackoffDoublesAndSaturates) {
  EXPECT_EQ(backoff_of(seconds(5), 0), seconds(5));
  EXPECT_EQ(backoff_of(seconds(5), 3), seconds(40));
  EXPECT_EQ(backoff_of({0}, 200).count, 0u);
  EXPECT_EQ(backoff_of(seconds(5), 63).count, ~std::uint64_t{0});
  EXPECT_EQ(backoff_of(seconds(5), 255).count, ~std::uint64_t{0});
}

TEST(Admission, NothingIsKnownBeforeTheSecondScan) {
  Region region = region_of(0.5, 128);
  region.scans = 1;
  EXPECT_FALSE(is_known(region, hot_cold()));
  region.scans = 2;
  EXPECT_TRUE(is_known(region, hot_cold()));
}

TEST(Admission, PromotionNeedsTwoEpochsInTheTopSet) {
  Region region = region_of(0.5, 128);
  region.epochs_hot = 1;
  EXPECT_FALSE(is_persistent(region, fast, hot_cold()));
  region.epochs_hot = 2;
  EXPECT_TRUE(is_persistent(region, fast, hot_cold()));
  region.wish = TierIndex{1};
  EXPECT_FALSE(is_persistent(region, fast, hot_cold()));
}

TEST(Admission, IdleMemoryIsNotWorthAMove) {
  EXPECT_FALSE(is_persistent(region_of(0.001, 128), fast, hot_cold()));
  EXPECT_TRUE(is_persistent(region_of(0.02, 128), fast, hot_cold()));
}

TEST(Admission, ATurnWaitsFiveSecondsDoubledByEachReversal) {
  Region region = region_of(0.5, 128);
  region.last_move = Direction::demote;
  region.moved_at = seconds(100);
  EXPECT_FALSE(may_turn(region, Direction::promote, milliseconds(104'999), hot_cold()));
  EXPECT_TRUE(may_turn(region, Direction::promote, seconds(105), hot_cold()));
  region.reversals = 3;
  EXPECT_FALSE(may_turn(region, Direction::promote, seconds(139), hot_cold()));
  EXPECT_TRUE(may_turn(region, Direction::promote, seconds(140), hot_cold()));
}

TEST(Admission, GoingOnInTheSameDirectionIsNoTurn) {
  Region region = region_of(0.5, 128);
  region.last_move = Direction::demote;
  region.moved_at = seconds(100);
  EXPECT_TRUE(may_turn(region, Direction::demote, seconds(100), hot_cold()));
}

TEST(Admission, AClockThatStepsBackOnlyDelays) {
  Region region = region_of(0.5, 128);
  region.last_move = Direction::demote;
  region.moved_at = seconds(100);
  EXPECT_FALSE(may_turn(region, Direction::promote, seconds(1), hot_cold()));
}

TEST(Admission, ARefusedRegionWaitsOneSecondDoubledByEachRefusalUpTo64) {
  Region region = region_of(0.5, 128);
  region.refusals = 1;
  region.refused_at = seconds(100);
  EXPECT_FALSE(may_retry(region, milliseconds(100'999), hot_cold()));
  EXPECT_TRUE(may_retry(region, seconds(101), hot_cold()));
  region.refusals = 4;
  EXPECT_FALSE(may_retry(region, seconds(107), hot_cold()));
  EXPECT_TRUE(may_retry(region, seconds(108), hot_cold()));
  region.refusals = 255;
  EXPECT_FALSE(may_retry(region, seconds(163), hot_cold()));
  EXPECT_TRUE(may_retry(region, seconds(164), hot_cold()));
}

TEST(Admission, EqualRegionsNeverTradePlaces) {
  for (const double heat : {0.0, 0.01, 0.3, 0.9, 1.0}) {
    EXPECT_FALSE(beats(region_of(heat, 128), region_of(heat, 128), hot_cold())) << heat;
  }
}

TEST(Admission, ATenthMoreHeatIsNoiseAndTwiceTheHeatIsNot) {
  EXPECT_FALSE(beats(region_of(0.55, 8192), region_of(0.5, 8192), hot_cold()));
  EXPECT_TRUE(beats(region_of(0.8, 8192), region_of(0.4, 8192), hot_cold()));
}

TEST(Admission, SmallRegionsNeedMoreThanLargeOnes) {
  // 0.10 against 0.05: 3 sigma of the difference are 0.11 over 128 pages and 0.014 over 8192.
  EXPECT_FALSE(beats(region_of(0.10, 128), region_of(0.05, 128), hot_cold()));
  EXPECT_TRUE(beats(region_of(0.10, 8192), region_of(0.05, 8192), hot_cold()));
}

TEST(Admission, TheNoiseMarginIsThatOfABinomialSample) {
  Parameters only_noise;
  only_noise.margin_sigma_16 = 16;
  const double p = 0.3;
  const double sigma = std::sqrt(p * (1 - p) * (1.0 / 200 + 1.0 / 800));
  EXPECT_NEAR(margin_of(region_of(0.35, 200), region_of(0.25, 800), only_noise) / 65535.0, sigma,
              0.0005);
}

TEST(Admission, ATinyRegionCanBeDisplaced) {
  EXPECT_TRUE(beats(region_of(0.8, 128), region_of(0.0, 1), hot_cold()));
}

TEST(Admission, NeutralParametersLetEverythingPass) {
  const Parameters neutral;
  Region region = region_of(0.0001, 128);
  region.scans = 0;
  region.epochs_hot = 0;
  region.last_move = Direction::demote;
  region.reversals = 5;
  region.refusals = 5;
  EXPECT_TRUE(is_known(region, neutral));
  EXPECT_TRUE(is_persistent(region, fast, neutral));
  EXPECT_TRUE(may_turn(region, Direction::promote, {0}, neutral));
  EXPECT_TRUE(may_retry(region, {0}, neutral));
  EXPECT_TRUE(beats(region, region_of(0, 128), neutral));
}

}  // namespace
}  // namespace cxltier
