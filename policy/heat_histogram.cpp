// SPDX-License-Identifier: Apache-2.0
//
// Bins from a score's leading bits, and filling a tier from the hottest bin down.
#include "policy/heat_histogram.h"

#include <algorithm>
#include <bit>

#include "policy/check.h"

namespace cxltier {

std::size_t bin_of(std::uint16_t score) noexcept {
  if (score == 0) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(score)) - 1;
  const std::size_t quarter = (std::size_t{score} << 2 >> octave) & 3;
  return std::max<std::size_t>(1, octave * 4 + quarter);
}

std::uint16_t bin_floor(std::size_t bin) noexcept {
  CXLTIER_CHECK_DEBUG(bin < heat_bins);
  if (bin <= 1) return static_cast<std::uint16_t>(bin);
  // (4 + quarter) / 4 * 2^octave, rounded up: low octaves have fewer than four scores.
  const std::size_t octave = std::min(bin, heat_bins - 1) / 4;
  const std::size_t quarters = 4 + bin % 4;
  return static_cast<std::uint16_t>(((quarters << octave) + 3) / 4);
}

HeatHistogram histogram_of(std::span<const Region> regions) noexcept {
  HeatHistogram histogram;
  for (const Region& region : regions) {
    histogram.pages[bin_of(heat_of(region))] += resident_pages(region);
  }
  return histogram;
}

Thresholds fill_capacity(const HeatHistogram& histogram, Pages capacity,
                         std::uint16_t headroom_permille) noexcept {
  CXLTIER_CHECK_DEBUG(headroom_permille <= 1000);
  // Divided first, since a capacity may be "no limit"; what is lost is under 1000 pages of headroom
  // times the share.
  const std::uint64_t headroom =
      capacity.count / 1000 * headroom_permille + capacity.count % 1000 * headroom_permille / 1000;
  const std::uint64_t room = capacity.count - std::min(capacity.count, headroom);
  Thresholds thresholds;
  while (thresholds.hot > 1) {
    const std::uint64_t next = histogram.pages[thresholds.hot - 1].count;
    if (next > room - thresholds.hot_pages.count) break;
    thresholds.hot_pages.count += next;
    --thresholds.hot;
  }
  const bool has_slack = thresholds.hot_pages.count < room - room / 4;
  thresholds.warm = has_slack && thresholds.hot > 1 ? thresholds.hot - 1 : thresholds.hot;
  return thresholds;
}

}  // namespace cxltier
