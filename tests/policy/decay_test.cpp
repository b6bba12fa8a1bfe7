// SPDX-License-Identifier: Apache-2.0
//
// The fixed-point decay against libm, which policy/ itself may not use.
#include "policy/decay.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cxltier {
namespace {

double share(Nanoseconds elapsed, Nanoseconds constant) {
  return static_cast<double>(retained_share(elapsed, constant)) / static_cast<double>(share_one);
}

TEST(Decay, FollowsTheExponentialForIntervalsOfHalfASecondToAMinute) {
  for (std::uint64_t ms = 500; ms <= 60'000; ms += 37) {
    const double time = static_cast<double>(ms) / 1000;
    // The interval is rounded down to 1/1024 of the constant, which is 0.1 % of the share.
    EXPECT_NEAR(share(milliseconds(ms), seconds(1)), std::exp(-time),
                0.001 * std::exp(-time) + 1e-8)
        << ms;
    EXPECT_NEAR(share(milliseconds(ms), seconds(10)), std::exp(-time / 10),
                0.001 * std::exp(-time / 10) + 1e-8)
        << ms;
  }
}

TEST(Decay, KeepsAllAtZeroAndNothingAfterForever) {
  EXPECT_EQ(retained_share({0}, seconds(1)), share_one);
  EXPECT_EQ(retained_share(seconds(40), seconds(1)), 0u);
  EXPECT_EQ(retained_share({~std::uint64_t{0}}, milliseconds(1)), 0u);
}

TEST(Decay, TwoHalvesForgetAsMuchAsTheWhole) {
  // The reason for decaying by time: the number of scans must not matter.
  const double half = share(milliseconds(1500), seconds(10));
  EXPECT_NEAR(half * half, share(seconds(3), seconds(10)), 0.001);
}

TEST(Decay, NeverRises) {
  Share32 before = share_one;
  for (std::uint64_t ms = 0; ms < 40'000; ms += 3) {
    const Share32 now = retained_share(milliseconds(ms), seconds(1));
    ASSERT_LE(now, before) << ms;
    before = now;
  }
}

}  // namespace
}  // namespace cxltier
