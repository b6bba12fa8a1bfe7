// SPDX-License-Identifier: Apache-2.0
//
// How many pages are how hot, and down to which heat they fit into a tier.
//
// 64 bins over the 16 octaves of a score, four per octave: equal ratios get equal widths, so that a
// few very hot pages are told apart as well as many lukewarm ones.  Bin 0 is untouched memory.
// The planner ranks exactly and needs no bins; the histogram is what a person is shown.
// Pure values: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/region_map.h"
#include "policy/units.h"

namespace cxltier {

inline constexpr std::size_t heat_bins = 64;

struct HeatHistogram {
  std::array<Pages, heat_bins> pages{};
};

// post: < heat_bins, never falls with score, 0 only for score 0
[[nodiscard]] std::size_t bin_of(std::uint16_t score) noexcept;
// The smallest score whose bin is `bin` or a higher one.  pre: bin < heat_bins
[[nodiscard]] std::uint16_t bin_floor(std::size_t bin) noexcept;

// Resident pages by the heat of their region.
[[nodiscard]] HeatHistogram histogram_of(std::span<const Region> regions) noexcept;

// Bins from `hot` up fit into the tier together; from `warm` up to below `hot` is what may stay if
// it is there.  hot == heat_bins: not even the hottest bin fits.
struct Thresholds {
  std::size_t hot = heat_bins;
  std::size_t warm = heat_bins;
  Pages hot_pages{};
};

// Fills `capacity` less `headroom_permille` of it from the hottest bin down, as MEMTIS (2023) does:
// one warm bin if the hot ones fill less than 75 %.
// post: 1 <= warm <= hot <= heat_bins; hot_pages fit
[[nodiscard]] Thresholds fill_capacity(const HeatHistogram& histogram, Pages capacity,
                                       std::uint16_t headroom_permille) noexcept;

}  // namespace cxltier
