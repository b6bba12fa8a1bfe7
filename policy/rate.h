// SPDX-License-Identifier: Apache-2.0
//
// Touches of one page per second, as a small floating-point number.
//
//     15      11 10         0
//    [ exponent | mantissa  ]     (2048 + mantissa) * 2^exponent / 2^22 touches per page and second
//
// Code 0 is "untouched"; codes compare as their rates do, so ranking needs no decoding, and the
// leading bits are the bin of a logarithmic histogram.  A code is close to 2048 times the binary
// logarithm of its rate, so exponential decay is a subtraction: all rates lose the same number of
// codes in a tick, and a decay never changes their order.  The subtraction treats the mantissa as a
// logarithm; the rate it yields is within 9 % of the exact decay, and the error does not add up.
// Pure values: any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "policy/decay.h"
#include "policy/units.h"

namespace cxltier {

struct Rate {
  std::uint16_t code = 0;
  friend constexpr auto operator<=>(Rate, Rate) = default;
};

inline constexpr std::uint32_t rate_mantissa_bits = 11;
inline constexpr std::uint32_t rate_fraction_bits = 22;  // of a linear rate
inline constexpr std::size_t rate_bins = 64;             // half octaves
inline constexpr std::uint32_t rate_bin_bits = 10;

// In 2^-22 touches per page and second; below 2^43.
[[nodiscard]] constexpr std::uint64_t linear_of(Rate rate) noexcept {
  const std::uint64_t mantissa =
      (std::uint64_t{1} << rate_mantissa_bits) + (rate.code & ((1u << rate_mantissa_bits) - 1));
  return rate.code == 0 ? 0 : mantissa << (rate.code >> rate_mantissa_bits);
}

// The nearest code below; 0 for less than 2048, saturates.
[[nodiscard]] Rate rate_of(std::uint64_t linear) noexcept;

[[nodiscard]] constexpr std::size_t bin_of(Rate rate) noexcept {
  return rate.code >> rate_bin_bits;
}

// Finer bins, for traces: quarter octaves.
inline constexpr std::size_t heat_bins = 128;
inline constexpr std::uint32_t heat_bin_bits = 9;
[[nodiscard]] constexpr std::size_t heat_bin_of(Rate rate) noexcept {
  return rate.code >> heat_bin_bits;
}

// How many codes a rate loses in `elapsed`.  pre: time_constant at least 1 ms
[[nodiscard]] std::uint16_t decay_codes(Nanoseconds elapsed, Nanoseconds time_constant) noexcept;

[[nodiscard]] constexpr Rate decayed(Rate rate, std::uint16_t codes) noexcept {
  return {static_cast<std::uint16_t>(rate.code > codes ? rate.code - codes : 0)};
}

// old * retained + seen * (1 - retained).
[[nodiscard]] Rate blend(Rate old, Rate seen, Share32 retained) noexcept;

// The rate that `touched` of `pages` access bits set within `window` speak of: -ln(1 - share) /
// window, since touches come as a Poisson process.  A share of all pages is taken as half a page
// short of it, or the rate would be infinite.
// pre: window > 0   post: 0 if pages or touched is 0
[[nodiscard]] Rate rate_of_bits(std::uint32_t touched, std::uint32_t pages,
                                Nanoseconds window) noexcept;

// The rate that `events` in `pages` within `window` speak of.  pre: window > 0
[[nodiscard]] Rate rate_of_events(std::uint32_t events, std::uint32_t pages,
                                  Nanoseconds window) noexcept;

// 2^16 times the binary logarithm, rounded down.  pre: value > 0
[[nodiscard]] std::uint32_t log2_q16(std::uint64_t value) noexcept;

}  // namespace cxltier
