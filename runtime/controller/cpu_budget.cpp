// SPDX-License-Identifier: Apache-2.0
//
// The bucket's arithmetic, in signed nanoseconds: a scan may leave a debt.
#include "runtime/controller/cpu_budget.h"

#include <algorithm>

namespace cxltier {

Nanoseconds CpuBudget::spend(Nanoseconds cost, Nanoseconds elapsed, Pace pace) noexcept {
  const auto signed_cost = static_cast<std::int64_t>(cost.count);
  const auto earned = static_cast<std::int64_t>(elapsed.count / share_divisor);
  credit_ns_ = std::min<std::int64_t>(credit_ns_ + earned, credit_max.count) - signed_cost;
  // The next scan will cost about as much: wait until the bucket holds that again.
  std::int64_t missing = std::max<std::int64_t>(signed_cost - credit_ns_, 0);
  if (pace == Pace::quiet) missing = std::max(missing, 2 * signed_cost);
  const auto longest = static_cast<std::int64_t>(interval_max.count / share_divisor);
  const Nanoseconds interval{static_cast<std::uint64_t>(std::min(missing, longest)) *
                             share_divisor};
  return std::clamp(interval, interval_min, interval_max);
}

}  // namespace cxltier
