// SPDX-License-Identifier: Apache-2.0
//
// Figures and their uncertainty, on numbers whose answer is known.
#include "bench/tier/verdict/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bench/tier/kernel/histogram.h"
#include "bench/tier/kernel/random.h"

namespace cxltier::bench {
namespace {

TEST(Statistics, MediansAndQuantiles) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(quantile_of({0, 10}, 0.25), 2.5);
  EXPECT_EQ(mad_of({1, 2, 3, 4, 100}), 1);
}

// Noise as a shared machine has it: a floor, and now and then much more.
double one_sided(Random& random) {
  const double u = random.unit();
  return 100 + u * 2 + (random.unit() < 0.1 ? 40 * random.unit() : 0);
}

TEST(Statistics, TheIntervalHoldsTheTrueMedianAboutNineteenTimesInTwenty) {
  Random random(11);
  std::vector<double> many(20'000);
  for (double& value : many) value = one_sided(random);
  const double truth = median_of(many);
  int held = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(15);
    for (double& value : values) value = one_sided(random);
    const Interval interval = median_interval(values, 1);
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  // The percentile bootstrap of a median is known to be a little conservative for small samples.
  EXPECT_GE(held, trials * 90 / 100);
}

TEST(Statistics, PairsCancelWhatBothShare) {
  Random random(5);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 15; ++i) {
    const double host = 1 + 3 * random.unit();  // the machine is up to four times slower at times
    a.push_back(1.10 * host * (1 + 0.01 * random.unit()));
    b.push_back(1.00 * host * (1 + 0.01 * random.unit()));
  }
  const Ratio paired = paired_ratio(a, b, 1);
  EXPECT_NEAR(paired.value, 1.10, 0.01);
  EXPECT_LT(paired.interval.high - paired.interval.low, 0.02);
  const Ratio apart = median_ratio(a, b, 1);
  EXPECT_GT(apart.interval.high - apart.interval.low, 0.2);  // and unpaired they do not
}

TEST(Statistics, SameMustBeShownAndNotAssumed) {
  EXPECT_EQ(verdict_of({1.0, {0.98, 1.02}, 9}, 0.05), Verdict::same);
  EXPECT_EQ(verdict_of({1.0, {0.80, 1.20}, 9}, 0.05), Verdict::unclear);
  EXPECT_EQ(verdict_of({1.2, {1.10, 1.30}, 9}, 0.05), Verdict::higher);
  EXPECT_EQ(verdict_of({0.8, {0.70, 0.90}, 9}, 0.05), Verdict::lower);
  EXPECT_EQ(verdict_of({1.03, {1.02, 1.04}, 9}, 0.05),
            Verdict::same);  // different, but not by much
}

TEST(Statistics, WarmUpEndsWhenTheSlopeDoes) {
  const std::vector<double> falling = {200, 180, 160, 140, 120};
  const std::vector<double> settled = {200, 150, 101, 100, 100.5, 99.8, 100.1};
  EXPECT_FALSE(is_warm(falling, 5, 0.02));
  EXPECT_TRUE(is_warm(settled, 5, 0.02));
  EXPECT_FALSE(is_warm(std::vector<double>{100, 100}, 5, 0.02));  // too few to say
  EXPECT_NEAR(relative_slope(std::vector<double>{90, 100, 110}, 3), 0.1, 1e-12);
  EXPECT_EQ(relative_slope(std::vector<double>{1}, 2), std::numeric_limits<double>::infinity());
}

TEST(Histogram, BucketsAreWithinASixtyFourthOfTheirValue) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t value = random.next() >> random.below(60);
    Histogram histogram;
    histogram.add(value);
    const auto exact = static_cast<double>(value);
    EXPECT_NEAR(histogram.quantile(0.5), exact, exact / 64 + 0.5);
  }
}

TEST(Histogram, TheTailIsKept) {
  Histogram histogram;
  for (int i = 0; i < 9989; ++i) histogram.add(100);
  for (int i = 0; i < 10; ++i) histogram.add(1000);
  histogram.add(50'000);
  EXPECT_NEAR(histogram.quantile(0.5), 100, 2);
  EXPECT_NEAR(histogram.quantile(0.999), 1000, 16);
  EXPECT_NEAR(histogram.quantile(0.9999), 1000, 16);
  EXPECT_NEAR(histogram.quantile(1.0), 50'000, 800);
  EXPECT_EQ(histogram.count(), 10'000u);
  EXPECT_EQ(histogram.max(), 50'000u);
  EXPECT_EQ(Histogram{}.quantile(0.5), 0);
}

}  // namespace
}  // namespace cxltier::bench
