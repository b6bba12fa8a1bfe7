// SPDX-License-Identifier: Apache-2.0
//
// From samples to a figure with its uncertainty.
//
// Medians, since a shared machine's noise is one-sided; intervals by the percentile bootstrap
// (Efron 1979), since nothing is known of the distribution; for two things measured in turns the
// ratio of each pair, and of these the Hodges-Lehmann estimate (the median of all pairwise means,
// here of logarithms), which uses what both share and drops it.  Pure; the resampling is seeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cxltier::bench {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Summary {
  std::size_t count = 0;     // samples that were used
  std::size_t rejected = 0;  // by cause
  double median = 0;
  Interval interval;  // 95 %, of the median
  double mad = 0;     // median absolute deviation
  double least = 0;
  double greatest = 0;
};

// The middle value; of an even number of values the mean of the two in the middle.  0 if empty.
[[nodiscard]] double median_of(std::vector<double> values);
// Linear between order statistics.  0 if empty.  pre: 0 <= q <= 1
[[nodiscard]] double quantile_of(std::vector<double> values, double q);
[[nodiscard]] double mad_of(const std::vector<double>& values);
// The 95 % interval of the median.  Fewer than 3 values: from the least to the greatest.
[[nodiscard]] Interval median_interval(const std::vector<double>& values, std::uint64_t seed);
[[nodiscard]] Summary summarise(const std::vector<double>& values, std::size_t rejected);

struct Ratio {
  double value = 1;
  Interval interval{1, 1};
  std::size_t pairs = 0;
};
// a[i] over b[i], which were measured next to each other.  pre: same size, all above 0
[[nodiscard]] Ratio paired_ratio(std::span<const double> a, std::span<const double> b,
                                 std::uint64_t seed);
// Medians of two sets that were not measured in pairs, as of another day.  pre: all above 0
[[nodiscard]] Ratio median_ratio(const std::vector<double>& a, const std::vector<double>& b,
                                 std::uint64_t seed);

enum class Verdict : std::uint8_t {
  same,     // the whole interval lies within the bound
  higher,   // the whole interval lies above 1, and not all of it within the bound
  lower,    // below 1, likewise
  unclear,  // anything else: too few samples or too much noise
};
// "Same" must be shown: an interval that merely holds 1 proves nothing.  pre: 0 < bound < 1
[[nodiscard]] Verdict verdict_of(const Ratio& ratio, double bound);
[[nodiscard]] const char* name_of(Verdict verdict) noexcept;

// The least-squares slope of the last `window` values per step, as a share of their mean.
// pre: window >= 2.  Fewer values than that: infinite.
[[nodiscard]] double relative_slope(std::span<const double> values, std::size_t window);
// Warm: the last `window` values neither rise nor fall by more than `bound` over the window.
[[nodiscard]] bool is_warm(std::span<const double> values, std::size_t window, double bound);

}  // namespace cxltier::bench
