// SPDX-License-Identifier: Apache-2.0
//
// Counts by inversion where they are small, by the normal distribution where they are large.
#include "policy/simulator/random.h"

#include <algorithm>
#include <cmath>

#include "policy/check.h"
#include "policy/simulator/arithmetic.h"

namespace cxltier::simulator {
namespace {

constexpr double small_mean = 12;
constexpr std::uint64_t few_trials = 16;

}  // namespace

double Random::normal() noexcept {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::uint64_t Random::poisson(double mean) noexcept {
  if (mean <= 0) return 0;
  if (mean > small_mean) {
    const double drawn = mean + std::sqrt(mean) * normal() + 0.5;
    return drawn > 0 ? static_cast<std::uint64_t>(drawn) : 0;
  }
  double term = exp_of(-mean);
  double rest = uniform() - term;
  std::uint64_t count = 0;
  while (rest > 0 && count < 100) {
    ++count;
    term *= mean / static_cast<double>(count);
    rest -= term;
  }
  return count;
}

std::uint64_t Random::binomial(std::uint64_t trials, double probability) noexcept {
  CXLTIER_CHECK_DEBUG(probability >= 0 && probability <= 1);
  if (probability > 0.5) return trials - binomial(trials, 1 - probability);
  if (probability <= 0) return 0;
  if (trials <= few_trials) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < trials; ++i) count += uniform() < probability ? 1 : 0;
    return count;
  }
  const auto n = static_cast<double>(trials);
  const double mean = n * probability;
  if (mean > small_mean) {
    const double drawn = mean + std::sqrt(mean * (1 - probability)) * normal() + 0.5;
    return drawn <= 0 ? 0 : std::min(trials, static_cast<std::uint64_t>(drawn));
  }
  // Inversion; (1-p)^n is above exp(-2 * 12) here.
  const double odds = probability / (1 - probability);
  double term = exp_of(n * log_of(1 - probability));
  double rest = uniform() - term;
  std::uint64_t count = 0;
  while (rest > 0 && count < trials) {
    ++count;
    term *= odds * (n - static_cast<double>(count) + 1) / static_cast<double>(count);
    rest -= term;
    if (term < 1e-30) break;
  }
  return count;
}

}  // namespace cxltier::simulator
