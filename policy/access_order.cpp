// SPDX-License-Identifier: Apache-2.0
//
// Counting near steps, and two thresholds with a gap between them.
#include "policy/access_order.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {

Pattern pattern_of(std::uint32_t steps, std::uint32_t near) noexcept {
  CXLTIER_CHECK_DEBUG(near <= steps);
  if (steps < order_steps_min) return Pattern::unknown;
  const std::uint64_t percent = std::uint64_t{near} * 100 / steps;
  if (percent >= stream_share_percent) return Pattern::stream;
  return percent < chase_share_percent ? Pattern::chase : Pattern::unknown;
}

OrderCount count_steps(std::span<const PageIndex> first_touches, Bytes page_size) noexcept {
  const std::uint64_t near_pages =
      std::max<std::uint64_t>(1, pages_of(step_near_max, page_size).count);
  OrderCount count;
  for (std::size_t i = 1; i < first_touches.size() && count.steps < 0xffff; ++i) {
    const std::uint64_t from = first_touches[i - 1].value;
    const std::uint64_t to = first_touches[i].value;
    ++count.steps;
    if (to > from && to - from <= near_pages) ++count.near;
  }
  return count;
}

}  // namespace cxltier
