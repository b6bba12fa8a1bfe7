// SPDX-License-Identifier: Apache-2.0
//
// Rates against libm: order, precision, decay, and what access bits say.
#include "policy/rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

namespace cxltier {
namespace {

double per_second(Rate rate) { return static_cast<double>(linear_of(rate)) / 4194304.0; }

TEST(Rate, EveryCodeSurvivesTheWayThereAndBack) {
  for (std::uint32_t code = 1; code <= 0xffff; ++code) {
    const Rate rate{static_cast<std::uint16_t>(code)};
    ASSERT_EQ(rate_of(linear_of(rate)), rate) << code;
  }
  EXPECT_EQ(linear_of(Rate{}), 0u);
  EXPECT_EQ(rate_of(0), Rate{});
  EXPECT_EQ(rate_of(~std::uint64_t{0}).code, 0xffff);
}

TEST(Rate, CodesCompareAsTheirRatesDo) {
  for (std::uint32_t code = 1; code < 0xffff; ++code) {
    const Rate low{static_cast<std::uint16_t>(code)};
    const Rate high{static_cast<std::uint16_t>(code + 1)};
    ASSERT_LT(linear_of(low), linear_of(high)) << code;
    ASSERT_LE(bin_of(low), bin_of(high)) << code;
  }
}

TEST(Rate, LogarithmAgreesWithLibm) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = (random() >> (random() % 63)) | 1;
    EXPECT_NEAR(log2_q16(value) / 65536.0, std::log2(static_cast<double>(value)), 2.0 / 65536)
        << value;
  }
}

TEST(Rate, DecayIsWithinNinePercentOfTheExponentialAndDoesNotDrift) {
  for (const double start : {0.01, 3.0, 700.0}) {
    Rate rate = rate_of(static_cast<std::uint64_t>(start * 4194304));
    const double first = per_second(rate);
    for (int tick = 1; tick <= 20; ++tick) {
      rate = decayed(rate, decay_codes(milliseconds(250), seconds(1)));
      const double exact = first * std::exp(-0.25 * tick);
      if (exact < 0.001) break;
      EXPECT_NEAR(per_second(rate) / exact, 1, 0.09) << start << " after " << tick;
    }
  }
}

TEST(Rate, DecayNeverChangesTheOrder) {
  std::printf("seed 3\n");
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i) {
    const Rate a{static_cast<std::uint16_t>(random())};
    const Rate b{static_cast<std::uint16_t>(random())};
    const auto codes = static_cast<std::uint16_t>(random() % 5000);
    if (a <= b) {
      EXPECT_LE(decayed(a, codes), decayed(b, codes));
    }
  }
}

TEST(Rate, BlendIsTheWeightedMean) {
  const Rate old = rate_of(std::uint64_t{100} << 22);
  const Rate seen = rate_of(std::uint64_t{20} << 22);
  EXPECT_NEAR(per_second(blend(old, seen, share_one / 4)), 40, 0.1);
  EXPECT_NEAR(per_second(blend(seen, old, share_one / 4)), 80, 0.1);
  EXPECT_EQ(blend(old, seen, 0), seen);
}

TEST(Rate, BitsGiveBackTheRateOfAPoissonProcess) {
  for (const double touches : {0.01, 0.1, 1.0, 3.0}) {
    const std::uint32_t pages = 100'000;
    const auto touched = static_cast<std::uint32_t>(pages * (1 - std::exp(-touches)));
    const double window_s = 0.05;
    const Rate rate = rate_of_bits(touched, pages, milliseconds(50));
    EXPECT_NEAR(per_second(rate) * window_s / touches, 1, 0.01) << touches;
  }
}

TEST(Rate, OnlyTouchedPagesHaveARate) {
  EXPECT_EQ(rate_of_bits(0, 512, milliseconds(50)), Rate{});
  EXPECT_EQ(rate_of_bits(5, 0, milliseconds(50)), Rate{});
  EXPECT_EQ(rate_of_events(0, 512, seconds(1)), Rate{});
}

TEST(Rate, AllPagesTouchedIsFinite) {
  // ln(2 n + 1) touches: as if half a page had been missed.
  const Rate rate = rate_of_bits(512, 512, seconds(1));
  EXPECT_NEAR(per_second(rate), std::log(1025.0), 0.01);
}

TEST(Rate, EventsAreInProportion) {
  const Rate one = rate_of_events(512, 512, seconds(1));
  const Rate ten = rate_of_events(5120, 512, seconds(1));
  EXPECT_NEAR(per_second(one), 1, 0.001);
  EXPECT_NEAR(per_second(ten), 10, 0.01);
}

}  // namespace
}  // namespace cxltier
