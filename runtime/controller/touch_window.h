// SPDX-License-Identifier: Apache-2.0
//
// How long to watch before reading the access bits.
//
// A bit says "touched or not": watch too long and everything was touched, too short and nothing
// was. The contrast between hot and cold is best while a small part of memory was touched, so the
// window is halved above share_max and doubled below share_min.  It is independent of how often we
// look: a scan every minute still watches for a fraction of a second.
//
// Pure; called only from the controller's thread.
#pragma once

#include <algorithm>

#include "policy/units.h"

namespace cxltier {

class TouchWindow {
 public:
  static constexpr Nanoseconds shortest = milliseconds(10);
  static constexpr Nanoseconds longest = seconds(1);
  static constexpr std::uint64_t share_max_percent = 9;
  static constexpr std::uint64_t share_min_percent = 3;

  [[nodiscard]] Nanoseconds length() const noexcept { return length_; }

  // Learns from a scan: `touched` of `resident` pages.
  // post: shortest <= length() <= longest
  void learn(Pages touched, Pages resident) noexcept {
    if (touched.count * 100 > resident.count * share_max_percent) length_.count /= 2;
    if (touched.count * 100 < resident.count * share_min_percent) length_.count *= 2;
    length_ = std::clamp(length_, shortest, longest);
  }

 private:
  Nanoseconds length_ = milliseconds(500);
};

}  // namespace cxltier
