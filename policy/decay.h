// SPDX-License-Identifier: Apache-2.0
//
// Exponential decay over a stretch of time, in fixed point, without libm.
//
// exp(-x) for x in units of 1/1024 is the product of exp(-2^k/1024) over the set bits k of x, so
// fifteen constants serve every length of interval, and every machine computes the same bits.
// Pure values: any thread.
#pragma once

#include <cstdint>

#include "policy/units.h"

namespace cxltier {

// A share of one in fixed point: share_one is all of it.
using Share32 = std::uint64_t;
inline constexpr Share32 share_one = std::uint64_t{1} << 32;

// The share of an old value that remains `elapsed` later: exp(-elapsed/time_constant).
// pre:  time_constant is at least 1 ms
// post: share_one at 0, never rises with `elapsed`, 0 from 32 time constants on; error < 0.1 % of
//       the share plus the rounding of `elapsed` down to 1/1024 of the time constant
[[nodiscard]] Share32 retained_share(Nanoseconds elapsed, Nanoseconds time_constant) noexcept;

}  // namespace cxltier
