// SPDX-License-Identifier: Apache-2.0
//
// Logarithms by repeated squaring, sixteen bits of them, so that no machine needs libm.
#include "policy/rate.h"

#include <algorithm>
#include <bit>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::uint32_t code_max = 0xffff;
constexpr std::uint64_t ln2_q32 = 2977044472;  // ln(2) * 2^32
constexpr std::uint64_t log2_e_q16 = 94548;    // log2(e) * 2^16
constexpr std::uint64_t linear_max = std::uint64_t{1} << 43;

}  // namespace

Rate rate_of(std::uint64_t linear) noexcept {
  constexpr std::uint64_t one = std::uint64_t{1} << rate_mantissa_bits;
  if (linear < one) return {};
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(linear)) - 1 - rate_mantissa_bits;
  if (exponent > 31) return {code_max};
  const auto mantissa = static_cast<std::uint32_t>((linear >> exponent) - one);
  // The least rate shares its code with "untouched".
  const std::uint32_t code = (exponent << rate_mantissa_bits) + mantissa;
  return {static_cast<std::uint16_t>(std::max(code, 1u))};
}

std::uint16_t decay_codes(Nanoseconds elapsed, Nanoseconds time_constant) noexcept {
  CXLTIER_CHECK_DEBUG(time_constant >= milliseconds(1));
  const std::uint64_t constant_us = std::max<std::uint64_t>(1, time_constant.count / 1000);
  const std::uint64_t elapsed_us = std::min(elapsed.count / 1000, 64 * constant_us);
  const std::uint64_t codes = elapsed_us * log2_e_q16 / constant_us >> (16 - rate_mantissa_bits);
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(codes, code_max));
}

Rate blend(Rate old, Rate seen, Share32 retained) noexcept {
  const std::uint64_t before = linear_of(old);
  const std::uint64_t now = linear_of(seen);
  const std::uint64_t gap = before > now ? before - now : now - before;
  // 43 bits times 32 do not fit: the low half of the share is not needed.
  const std::uint64_t rest = (gap >> 12) * (retained >> 4) >> 16;
  return rate_of(before > now ? now + rest : now - rest);
}

std::uint32_t log2_q16(std::uint64_t value) noexcept {
  CXLTIER_CHECK_DEBUG(value > 0);
  const auto whole = static_cast<std::uint32_t>(std::bit_width(value | 1)) - 1;
  // The mantissa in [1, 2) as 31 fraction bits.
  std::uint64_t x = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
  std::uint32_t fraction = 0;
  for (int bit = 0; bit < 16; ++bit) {
    x = x * x >> 31;
    const bool is_two = (x >> 32) != 0;
    fraction = fraction << 1 | (is_two ? 1 : 0);
    if (is_two) x >>= 1;
  }
  return whole << 16 | fraction;
}

Rate rate_of_bits(std::uint32_t touched, std::uint32_t pages, Nanoseconds window) noexcept {
  if (touched == 0 || pages == 0 || window.count == 0) return {};
  const std::uint64_t all = 2 * std::uint64_t{pages} + 1;
  const std::uint64_t untouched = all - 2 * std::uint64_t{std::min(touched, pages)};
  const std::uint64_t log2 = log2_q16(all) - log2_q16(untouched);
  // log2 (16 bits of fraction) * ln(2) per second, to 22 bits of fraction.
  const std::uint64_t per_window_q22 = log2 * ln2_q32 >> (32 - (rate_fraction_bits - 16));
  const std::uint64_t window_us = std::max<std::uint64_t>(1, window.count / 1000);
  return rate_of(std::min(linear_max, per_window_q22 * 1'000'000 / window_us));
}

Rate rate_of_events(std::uint32_t events, std::uint32_t pages, Nanoseconds window) noexcept {
  if (events == 0 || pages == 0 || window.count == 0) return {};
  const std::uint64_t window_us = std::max<std::uint64_t>(1, window.count / 1000);
  const std::uint64_t per_page_q22 =
      std::min((std::uint64_t{events} << rate_fraction_bits) / pages, linear_max);
  return rate_of(std::min(linear_max, per_page_q22 * 1'000'000 / window_us));
}

}  // namespace cxltier
