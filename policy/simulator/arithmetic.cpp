// SPDX-License-Identifier: Apache-2.0
//
// Range reduction by powers of two, then a series that is cut where double precision ends.
#include "policy/simulator/arithmetic.h"

#include <bit>

#include "policy/check.h"

namespace cxltier::simulator {
namespace {

// ln 2 in two parts: the first has 32 bits, so that whole multiples of it are exact.
constexpr double ln2_high = 0.69314718036912381649017333984375;
constexpr double ln2_low = 1.9082149292705877e-10;
constexpr double log2_e = 1.4426950408889634;
constexpr double sqrt_2 = 1.4142135623730951;

double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace

double exp_of(double x) noexcept {
  CXLTIER_CHECK_DEBUG(x <= 700);
  if (x < -700) return 0;
  const double scaled = x * log2_e;
  const auto k = static_cast<std::int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const double r = (x - static_cast<double>(k) * ln2_high) - static_cast<double>(k) * ln2_low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return sum * power_of_two(k);
}

double log_of(double x) noexcept {
  CXLTIER_CHECK_DEBUG(x > 0);
  const auto bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double mantissa =
      std::bit_cast<double>((bits & 0xf'ffff'ffff'ffff) | (std::uint64_t{1023} << 52));
  if (mantissa > sqrt_2) {
    mantissa /= 2;
    ++exponent;
  }
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return static_cast<double>(exponent) * ln2_high +
         (static_cast<double>(exponent) * ln2_low + 2 * s * sum);
}

double power_of(double base, double exponent) noexcept { return exp_of(exponent * log_of(base)); }

double integer_power(double base, std::uint32_t exponent) noexcept {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace cxltier::simulator
