// SPDX-License-Identifier: Apache-2.0
//
// How managed memory is cut into regions.
//
//   heap ranges   |--------------------|      |-----------|
//   regions       |--|----|----|----|--|      |----|----|-|     cut at multiples of the region size
//
// Each region becomes a VMA of its own, so their number is bounded by the VMA budget: the region
// size is the smallest power of two, at least the minimum, that keeps within it.  Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/units.h"
#include "runtime/os/address_range.h"

namespace cxltier {

struct LayoutLimits {
  Bytes region_min;             // a power of two, at least the page size
  std::size_t regions_max = 0;  // VMA budget
};

// The region size that keeps `ranges` within the budget.
// pre: regions_max > ranges.size()
// post: a power of two >= region_min
[[nodiscard]] Bytes choose_region_size(std::span<const AddressRange> ranges,
                                       const LayoutLimits& limits) noexcept;

// Cuts `ranges` (sorted, disjoint) into regions; returns how many it wrote.  Stops when `out` is
// full: the rest stays unmanaged.
std::size_t cut_regions(std::span<const AddressRange> ranges, Bytes region_size,
                        std::span<AddressRange> out) noexcept;

}  // namespace cxltier
