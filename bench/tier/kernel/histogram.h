// SPDX-License-Identifier: Apache-2.0
//
// How long single batches of loads took, kept so that the tail is as true as the middle.
//
// Log buckets, as HdrHistogram has them: below 2^6 one bucket per value, above that 64 buckets per
// power of two, so that a bucket is never wider than 1/64 of its value.
//
//   value   0 .. 63 | 64, 65 .. 127 | 128, 130 .. 254 | 256, 260 ..   (lower ends)
//   width      1           1               2                4
//
// Invariant: the sum of all buckets is count().  Fixed size, no heap; one thread at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cxltier::bench {

class Histogram {
 public:
  void add(std::uint64_t value) noexcept {
    ++buckets_[bucket_of(value)];
    ++count_;
    if (value > max_) max_ = value;
  }
  // The value that a share `q` of all values do not exceed: the middle of its bucket.  0 if empty.
  // pre: 0 <= q <= 1
  [[nodiscard]] double quantile(double q) const noexcept {
    if (count_ == 0) return 0;
    const double rank = q * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      seen += buckets_[i];
      if (seen > 0 && static_cast<double>(seen) >= rank) return middle_of(i);
    }
    return static_cast<double>(max_);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

 private:
  static constexpr unsigned precision_bits = 6;
  static constexpr std::size_t per_power = std::size_t{1} << precision_bits;
  static constexpr std::size_t bucket_count = per_power * (64 - precision_bits + 1);

  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < per_power) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - precision_bits;
    return per_power * shift + static_cast<std::size_t>(value >> shift);
  }
  static double middle_of(std::size_t bucket) noexcept {
    if (bucket < 2 * per_power) return static_cast<double>(bucket);
    const auto shift = static_cast<unsigned>(bucket / per_power - 1);
    const double low = static_cast<double>(bucket - per_power * shift);
    const double width = static_cast<double>(std::uint64_t{1} << shift);
    return low * width + (width - 1) / 2;
  }

  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace cxltier::bench
