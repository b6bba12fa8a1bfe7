// SPDX-License-Identifier: Apache-2.0
//
// Reads one telemetry page and distrusts it: the file may be cut short, in the middle of an update,
// of another version, or made up.
//
// What comes out is safe to print and to index with: counts are within their arrays, tiers within
// tiers_max or tier_none, texts zero-terminated and printable.  Whether the numbers are true,
// nobody can know.  No heap, no state: any thread.
#pragma once

#include <cstdint>

#include "runtime/telemetry/page.h"

namespace cxltier {

enum class PageFailure : std::uint8_t {
  none,
  no_process,  // there is no process with that pid
  absent,      // the process has published nothing
  forbidden,   // no permission
  untrusted,   // its folder is a link, or others could write there
  damaged,     // not a telemetry page, or cut short
  stale,       // left behind by an earlier process with the same pid, or by another boot
  busy,  // in the middle of an update at every attempt: its writer was stopped or killed there
};

struct PageFile {
  int folder = -1;        // an open, checked folder
  std::uint32_t pid = 0;  // the file's name
  std::uint32_t uid = 0;  // who must own it
};

// Reads and checks everything except whether the process is still the same.  Tries again for about
// 100 ms while the page is being updated.
// post: on none, `page` is_printable; a field that the file is too short for is 0
[[nodiscard]] PageFailure read_telemetry_page(const PageFile& where, TelemetryPage& page) noexcept;

// The invariants that a page from read_telemetry_page keeps.
[[nodiscard]] bool is_printable(const TelemetryPage& page) noexcept;

}  // namespace cxltier
