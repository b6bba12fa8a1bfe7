// SPDX-License-Identifier: Apache-2.0
//
// A run of virtual addresses, [begin, end).  Pure value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cxltier {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] constexpr std::uint64_t size() const { return end > begin ? end - begin : 0; }
  [[nodiscard]] constexpr bool contains(std::uintptr_t address) const {
    return begin <= address && address < end;
  }
  [[nodiscard]] constexpr bool covers(AddressRange other) const {
    return begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] constexpr AddressRange overlap(AddressRange other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
  friend constexpr bool operator==(AddressRange, AddressRange) = default;
};

}  // namespace cxltier
