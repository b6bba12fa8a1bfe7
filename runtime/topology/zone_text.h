// SPDX-License-Identifier: Apache-2.0
//
// /proc/zoneinfo, line by line: how many pages of a node the kernel keeps free for itself.
//
// A zone's "high" watermark is where reclaim stops; below it the kernel refuses to move pages in
// and sends new memory elsewhere (mm/page_alloc.c, zone_watermark_ok).  Source of the format:
// mm/vmstat.c, zoneinfo_show_print, Linux 6.12.  Pure; total on any input.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/units.h"

namespace cxltier {

// Follows the lines of the file; a "high" line belongs to the "Node N, zone X" line before it.
class ZoneText {
 public:
  struct Watermark {
    NodeId node{};
    Pages high{};
  };
  // The watermark of one zone, when this line completes it.
  std::optional<Watermark> feed(std::string_view line) noexcept;

 private:
  std::optional<NodeId> node_;
};

}  // namespace cxltier
