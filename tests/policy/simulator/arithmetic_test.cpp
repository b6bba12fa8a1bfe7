// SPDX-License-Identifier: Apache-2.0
//
// Our exp, log and powers against libm, and random numbers against their definitions.
#include "policy/simulator/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/simulator/random.h"

namespace cxltier::simulator {
namespace {

TEST(Arithmetic, ExpAgreesWithLibm) {
  for (double x = -699; x < 699; x += 0.37) {
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1, 1e-13) << x;
  }
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-701), 0);
}

TEST(Arithmetic, LogAgreesWithLibm) {
  for (double x = 1e-300; x < 1e300; x *= 1.7) {
    EXPECT_NEAR(log_of(x), std::log(x), 1e-13 * std::abs(std::log(x)) + 1e-15) << x;
  }
  EXPECT_EQ(log_of(1), 0);
}

TEST(Arithmetic, PowersAgreeWithLibm) {
  for (const double base : {0.3, 1.0, 1.7, 42.0}) {
    EXPECT_NEAR(power_of(base, -0.99) / std::pow(base, -0.99), 1, 1e-12);
    EXPECT_NEAR(integer_power(base, 7) / std::pow(base, 7), 1, 1e-14);
    EXPECT_EQ(integer_power(base, 0), 1);
  }
}

TEST(Random, DependsOnWhatItIsForAndNotOnOrder) {
  Random first(7, 1, 2, 3);
  Random other(7, 1, 2, 4);
  Random again(7, 1, 2, 3);
  const std::uint64_t value = first.bits();
  EXPECT_NE(value, other.bits());
  EXPECT_EQ(value, again.bits());
}

// Mean and variance of 20,000 draws within five standard errors.
template <typename Draw>
void expect_moments(double mean, double variance, const Draw& draw) {
  constexpr int draws = 20'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = draw(static_cast<std::uint64_t>(i));
    sum += value;
    squares += value * value;
  }
  const double found = sum / draws;
  EXPECT_NEAR(found, mean, 5 * std::sqrt(variance / draws) + 1e-12) << mean;
  EXPECT_NEAR(squares / draws - found * found, variance, 0.08 * variance + 0.002) << mean;
}

TEST(Random, BinomialHasItsMoments) {
  for (const std::uint64_t trials : {5u, 16u, 64u, 4096u}) {
    for (const double p : {0.001, 0.1, 0.5, 0.97}) {
      const auto n = static_cast<double>(trials);
      expect_moments(n * p, n * p * (1 - p), [&](std::uint64_t i) {
        return static_cast<double>(Random(1, 2, i).binomial(trials, p));
      });
    }
  }
  EXPECT_EQ(Random(1, 2).binomial(100, 0), 0u);
  EXPECT_EQ(Random(1, 2).binomial(100, 1), 100u);
}

TEST(Random, PoissonHasItsMoments) {
  for (const double mean : {0.01, 0.7, 5.0, 11.9, 12.1, 300.0}) {
    expect_moments(mean, mean, [&](std::uint64_t i) {
      return static_cast<double>(Random(1, 3, i).poisson(mean));
    });
  }
}

TEST(Random, NormalHasItsMoments) {
  expect_moments(0, 1, [](std::uint64_t i) { return Random(1, 4, i).normal(); });
}

}  // namespace
}  // namespace cxltier::simulator
