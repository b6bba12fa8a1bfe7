// SPDX-License-Identifier: Apache-2.0
//
// The constants behind decay.h, and their product over the set bits of the time that passed.
#include "policy/decay.h"

#include <algorithm>
#include <array>

#include "policy/check.h"

namespace cxltier {
namespace {

// exp(-2^k/1024) * 2^32, rounded, for k = 0 to 14.
constexpr std::array<std::uint64_t, 15> decay_table = {
    4290775039, 4286586875, 4278222805, 4261543595, 4228380000, 4162825044, 4034748382, 3790295335,
    3344923893, 2605029347, 1580030169, 581260615,  78665070,   1440801,    483};
constexpr std::uint64_t steps_max = (std::uint64_t{1} << decay_table.size()) - 1;
constexpr std::uint64_t elapsed_us_max = std::uint64_t{1} << 50;  // 35 years; times 1024 fits

}  // namespace

Share32 retained_share(Nanoseconds elapsed, Nanoseconds time_constant) noexcept {
  CXLTIER_CHECK_DEBUG(time_constant >= milliseconds(1));
  const std::uint64_t constant_us = std::max<std::uint64_t>(1, time_constant.count / 1000);
  const std::uint64_t elapsed_us = std::min(elapsed.count / 1000, elapsed_us_max);
  const std::uint64_t steps = elapsed_us * 1024 / constant_us;
  if (steps > steps_max) return 0;
  Share32 share = share_one;
  for (std::size_t k = 0; k < decay_table.size(); ++k) {
    if ((steps >> k & 1) != 0) share = share * decay_table[k] >> 32;
  }
  return share;
}

}  // namespace cxltier
