// SPDX-License-Identifier: Apache-2.0
//
// What a sensor saw of one region between two scans, in the policy's units.
#pragma once

#include <cstdint>

#include "policy/leaf_map.h"
#include "policy/units.h"

namespace cxltier {

// What a sensor can say of one region.  unknown: its access bits could not be cleared, for
// instance because a fork child shares the pages.  Its heat is kept; only placement is updated.
enum class Visibility : std::uint8_t { seen, unknown };

struct Observation {
  PageIndex first_page{};
  std::uint32_t page_count = 0;
  std::uint32_t touched_pages = 0;
  Visibility visibility = Visibility::unknown;
  Residence resident{};
};

}  // namespace cxltier
