// SPDX-License-Identifier: Apache-2.0
//
// Quiet on noise, quick on steps, deaf to single outliers.
#include "policy/change_detector.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace cxltier {
namespace {

const Parameters parameters = preset_of(PolicyKind::balance);

TEST(ChangeDetector, IsQuietOnNoise) {
  std::printf("seeds 1 to 20\n");
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(100'000, 3'000);
    ChangeDetector detector(4);
    for (int i = 0; i < 500; ++i) {
      const auto sample = static_cast<std::int64_t>(noise(random));
      alarms += detector.observe(sample, 1'500, parameters) == Change::none ? 0 : 1;
    }
  }
  // 10,000 samples; the threshold of 6 sigma at a drift of 0.5 lets about one in a thousand
  // through.
  EXPECT_LE(alarms, 20);
}

TEST(ChangeDetector, SeesAStepInBothDirectionsWithinThreeSamples) {
  for (const std::int64_t to : {70'000, 160'000}) {
    std::mt19937_64 random(9);
    std::normal_distribution<double> noise(0, 2'000);
    ChangeDetector detector(4);
    for (int i = 0; i < 60; ++i) {
      detector.observe(100'000 + static_cast<std::int64_t>(noise(random)), 2'000, parameters);
    }
    Change seen = Change::none;
    int samples = 0;
    while (seen == Change::none && samples < 10) {
      ++samples;
      seen = detector.observe(to + static_cast<std::int64_t>(noise(random)), 2'000, parameters);
    }
    EXPECT_EQ(seen, to > 100'000 ? Change::rise : Change::fall);
    EXPECT_LE(samples, 3);
  }
}

TEST(ChangeDetector, OneOutlierIsNoChange) {
  ChangeDetector detector(4);
  for (int i = 0; i < 40; ++i) detector.observe(1'000 + i % 3, 10, parameters);
  EXPECT_EQ(detector.observe(10'000, 10, parameters), Change::none);
  EXPECT_EQ(detector.observe(1'000, 10, parameters), Change::none);
}

TEST(ChangeDetector, AWideClipAlarmsAtOnce) {
  ChangeDetector detector(8);
  for (int i = 0; i < 40; ++i) detector.observe(i % 3, 10, parameters);
  EXPECT_EQ(detector.observe(-10'000, 10, parameters), Change::fall);
  EXPECT_TRUE(detector.is_learning()) << "it begins anew";
}

TEST(ChangeDetector, FollowsSlowDrift) {
  ChangeDetector detector(4);
  std::int64_t sample = 100'000;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(detector.observe(sample, 1'000, parameters), Change::none) << i;
    sample += 40;
  }
  EXPECT_NEAR(static_cast<double>(detector.mean()), static_cast<double>(sample), 1'000);
}

}  // namespace
}  // namespace cxltier
