// SPDX-License-Identifier: Apache-2.0
//
// Cuts at multiples of the region size, whatever the ranges are.
#include "runtime/sensor/region_layout.h"

#include <algorithm>
#include <bit>

#include "policy/check.h"

namespace cxltier {
namespace {

// Regions that one range needs: whole ones and the two cut by its ends.
std::uint64_t regions_in(AddressRange range, std::uint64_t size) noexcept {
  if (range.size() == 0) return 0;
  return (range.end - 1) / size - range.begin / size + 1;
}

std::uint64_t regions_in(std::span<const AddressRange> ranges, std::uint64_t size) noexcept {
  std::uint64_t count = 0;
  for (const AddressRange range : ranges) count += regions_in(range, size);
  return count;
}

}  // namespace

Bytes choose_region_size(std::span<const AddressRange> ranges,
                         const LayoutLimits& limits) noexcept {
  CXLTIER_CHECK(std::has_single_bit(limits.region_min.count));
  CXLTIER_CHECK(limits.regions_max > ranges.size());
  constexpr std::uint64_t size_max = std::uint64_t{1} << 46;  // half of a 47-bit address space
  std::uint64_t size = limits.region_min.count;
  while (size < size_max && regions_in(ranges, size) > limits.regions_max) size *= 2;
  return {size};
}

std::size_t cut_regions(std::span<const AddressRange> ranges, Bytes region_size,
                        std::span<AddressRange> out) noexcept {
  CXLTIER_CHECK(std::has_single_bit(region_size.count));
  std::size_t count = 0;
  for (const AddressRange range : ranges) {
    std::uintptr_t at = range.begin;
    while (at < range.end && count < out.size()) {
      const std::uintptr_t boundary = (at / region_size.count + 1) * region_size.count;
      out[count] = {at, std::min<std::uintptr_t>(boundary, range.end)};
      at = out[count++].end;
    }
  }
  return count;
}

}  // namespace cxltier
