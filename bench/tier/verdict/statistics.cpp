// SPDX-License-Identifier: Apache-2.0
//
// Order statistics and resampling.
#include "bench/tier/verdict/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/tier/kernel/random.h"
#include "policy/check.h"

namespace cxltier::bench {
namespace {

// Enough that the ends of a 95 % interval stand on 50 resamples each.
constexpr std::size_t resamples = 2000;

std::vector<double> resampled(std::span<const double> values, Random& random) {
  std::vector<double> sample(values.size());
  for (double& value : sample) value = values[random.below(values.size())];
  return sample;
}

Interval middle_95(std::vector<double> estimates) {
  return {quantile_of(estimates, 0.025), quantile_of(estimates, 0.975)};
}

double hodges_lehmann(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  return median_of(std::move(means));
}

}  // namespace

double quantile_of(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = rank - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

double median_of(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

double mad_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median_of(std::move(deviations));
}

Interval median_interval(const std::vector<double>& values, std::uint64_t seed) {
  if (values.empty()) return {};
  if (values.size() < 3) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    return {*least, *greatest};
  }
  Random random(seed);
  std::vector<double> medians(resamples);
  for (double& median : medians) median = median_of(resampled(values, random));
  return middle_95(std::move(medians));
}

Summary summarise(const std::vector<double>& values, std::size_t rejected) {
  Summary summary;
  summary.count = values.size();
  summary.rejected = rejected;
  if (values.empty()) return summary;
  summary.median = median_of(values);
  summary.interval = median_interval(values, 1);
  summary.mad = mad_of(values);
  summary.least = *std::min_element(values.begin(), values.end());
  summary.greatest = *std::max_element(values.begin(), values.end());
  return summary;
}

Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  CXLTIER_CHECK(a.size() == b.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > 0 && b[i] > 0) logs.push_back(std::log(a[i] / b[i]));
  }
  Ratio ratio;
  ratio.pairs = logs.size();
  if (logs.empty()) return ratio;
  ratio.value = std::exp(hodges_lehmann(logs));
  Random random(seed);
  std::vector<double> estimates(logs.size() < 3 ? 0 : resamples);
  for (double& estimate : estimates) estimate = hodges_lehmann(resampled(logs, random));
  if (estimates.empty()) estimates = logs;
  const Interval interval = middle_95(std::move(estimates));
  ratio.interval = {std::exp(interval.low), std::exp(interval.high)};
  return ratio;
}

Ratio median_ratio(const std::vector<double>& a, const std::vector<double>& b, std::uint64_t seed) {
  Ratio ratio;
  const double base = median_of(b);
  if (a.empty() || b.empty() || base <= 0) return ratio;
  ratio.value = median_of(a) / base;
  Random random(seed);
  std::vector<double> estimates(resamples);
  for (double& estimate : estimates) {
    const double numerator = median_of(resampled(a, random));
    const double denominator = median_of(resampled(b, random));
    estimate = denominator > 0 ? numerator / denominator : ratio.value;
  }
  ratio.interval = middle_95(std::move(estimates));
  return ratio;
}

Verdict verdict_of(const Ratio& ratio, double bound) {
  const Interval& i = ratio.interval;
  if (i.low >= 1 / (1 + bound) && i.high <= 1 + bound) return Verdict::same;
  if (i.low > 1) return Verdict::higher;
  if (i.high < 1) return Verdict::lower;
  return Verdict::unclear;
}

const char* name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::higher:
      return "higher";
    case Verdict::lower:
      return "lower";
    case Verdict::unclear:
      return "unclear";
  }
  return "?";
}

double relative_slope(std::span<const double> values, std::size_t window) {
  CXLTIER_CHECK(window >= 2);
  if (values.size() < window) return std::numeric_limits<double>::infinity();
  const std::span<const double> last = values.last(window);
  const double middle = static_cast<double>(window - 1) / 2;
  double mean = 0;
  for (const double value : last) mean += value / static_cast<double>(window);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < window; ++i) {
    const double x = static_cast<double>(i) - middle;
    products += x * (last[i] - mean);
    squares += x * x;
  }
  return mean == 0 ? 0 : products / squares / mean;
}

bool is_warm(std::span<const double> values, std::size_t window, double bound) {
  return std::abs(relative_slope(values, window)) * static_cast<double>(window - 1) <= bound;
}

}  // namespace cxltier::bench
