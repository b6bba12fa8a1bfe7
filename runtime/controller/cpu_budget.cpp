// SPDX-License-Identifier: Apache-2.0
//
// The bucket's arithmetic, in signed nanoseconds: a scan may leave a debt.
#include "runtime/controller/cpu_budget.h"

#include <algorithm>

namespace cxltier {

Nanoseconds CpuBudget::spend(Nanoseconds cost, Nanoseconds elapsed, Pace pace) noexcept {
  const auto spent = static_cast<std::int64_t>(cost.count);
  const auto earned = static_cast<std::int64_t>(elapsed.count / share_divisor);
  credit_ns_ = std::min<std::int64_t>(credit_ns_ + earned, credit_max.count) - spent;
  // The next scan will cost about as much: wait until the bucket holds that again.
  std::int64_t missing = std::max<std::int64_t>(spent - credit_ns_, 0);
  if (pace == Pace::quiet) missing = std::max(missing, 2 * spent);
  const auto longest = static_cast<std::int64_t>(interval_max.count / share_divisor);
  Nanoseconds interval{static_cast<std::uint64_t>(std::min(missing, longest)) * share_divisor};
  if (pace == Pace::settling) {
    interval = std::min(interval, Nanoseconds{cost.count * settling_divisor});
    credit_ns_ = std::max<std::int64_t>(credit_ns_, 0);  // paid by the 3 %, not by silence later
  }
  return std::clamp(interval, interval_min, interval_max);
}

}  // namespace cxltier
