// SPDX-License-Identifier: Apache-2.0
//
// How often the controller may look, so that looking costs at most one percent of one core.
//
// A bucket of processor time: it fills at 1 % of the time that passes, and every scan takes its
// cost.  The bucket starts full, so that a program settles fast.  While nothing changes, the
// interval between scans is what one scan costs times two hundred, which fills the bucket for the
// next change.  While pages still move and the bucket is empty, scans may cost up to 3 % of a core:
// they are what stands between the program and its speed.
//
// Moving is not paid from here: it has a budget of its own, in bytes, and none in steady state.
// Pure; called only from the controller's thread.
#pragma once

#include <cstdint>

#include "policy/units.h"

namespace cxltier {

// Whether the last scans changed anything.
enum class Pace : std::uint8_t { settling, quiet };

class CpuBudget {
 public:
  // The share of one core that sensing may use in steady state, the project's promise: 1 %.
  static constexpr std::uint64_t share_divisor = 100;
  // And while something changes: 3 %.
  static constexpr std::uint64_t settling_divisor = 33;
  // Enough for the twenty scans that settling may take, where one costs 0.2 s (a slow guest).
  static constexpr Nanoseconds credit_max = seconds(4);
  static constexpr Nanoseconds interval_min = seconds(1);
  static constexpr Nanoseconds interval_max = seconds(60);

  // Accounts for a scan that used `cost`, `elapsed` after the one before; returns the time to wait
  // until the next.
  // post: interval_min <= result <= interval_max
  Nanoseconds spend(Nanoseconds cost, Nanoseconds elapsed, Pace pace) noexcept;

 private:
  std::int64_t credit_ns_ = static_cast<std::int64_t>(credit_max.count);
};

}  // namespace cxltier
