// SPDX-License-Identifier: Apache-2.0
//
// /proc/iomem: who claims which physical addresses, as a tree.
//
// It is the one place that shows whether CXL memory came through the CXL driver, through hmem, or
// as plain RAM from the firmware's memory map:
//
//   CXL Window 0 > region0 > dax0.0 > System RAM (kmem)         the CXL driver
//   CXL Window 0 > Soft Reserved > dax0.0 > System RAM (kmem)   hmem
//   CXL Window 0 > System RAM                                   firmware gave it as plain RAM
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cxltier {

inline constexpr std::size_t no_parent = ~std::size_t{0};

struct IomemRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // inclusive
  std::string name;
  std::size_t parent = no_parent;  // index of the range that holds it
  [[nodiscard]] bool overlaps(std::uint64_t from, std::uint64_t to) const {
    return first <= to && from <= last;
  }
};

struct Iomem {
  std::vector<IomemRange> ranges;
  bool is_hidden = false;  // all addresses are 0: the reader lacked CAP_SYS_ADMIN
  // "CXL Window 0 > region0", from the outermost range.
  [[nodiscard]] std::string path_of(std::size_t index) const;
  // Whether `index` lies below a range whose name begins with `prefix`.
  [[nodiscard]] bool is_below(std::size_t index, std::string_view prefix) const;
};

// Lines that are none of iomem's are skipped.
[[nodiscard]] Iomem parse_iomem(std::string_view text);

// "390000000-3afffffff : region0"
[[nodiscard]] std::string iomem_line(const IomemRange& range);

}  // namespace cxltier
