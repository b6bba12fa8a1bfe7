// SPDX-License-Identifier: Apache-2.0
//
// exp, log and powers from additions and multiplications alone.
//
// libm differs in the last bit between versions and machines, and one bit decides a coin toss; what
// is here needs only the four operations that IEEE 754 defines exactly, so every machine and
// compiler that does not contract or reorder them computes the same bits.  Pure: any thread.
#pragma once

#include <cstdint>

namespace cxltier::simulator {

// Relative error below 1e-14.  Below -700: 0.  pre: x <= 700
[[nodiscard]] double exp_of(double x) noexcept;

// Relative error below 1e-13 where the result is not near 0, absolute 1e-15 there.  pre: x is a
// positive normal number
[[nodiscard]] double log_of(double x) noexcept;

// pre: base > 0
[[nodiscard]] double power_of(double base, double exponent) noexcept;

// base^exponent by repeated multiplication.
[[nodiscard]] double integer_power(double base, std::uint32_t exponent) noexcept;

}  // namespace cxltier::simulator
