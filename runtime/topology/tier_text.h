// SPDX-License-Identifier: Apache-2.0
//
// Tiers as a user writes them: "0,1;2" or "0-1/2".
//
// Fastest tier first, tiers separated by ';' or '/', nodes as a list with ranges.  A node that is
// not named is in no tier.  Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "policy/machine.h"

namespace cxltier {

enum class TierFault : std::uint8_t {
  none,
  not_a_list,      // the word is not a node or a range of nodes
  unknown_node,    // the machine has no such node
  node_no_memory,  // the node has no memory
  node_twice,
  empty_tier,      // the word is the whole text
  too_many_tiers,  // the word is the first tier beyond tiers_max
};

struct ParsedTiers {
  TierMap tiers;  // empty unless ok()
  TierFault fault = TierFault::none;
  std::string_view word;  // the part of the text at fault
  [[nodiscard]] bool ok() const noexcept { return fault == TierFault::none; }
};

// post: ok() implies is_valid(tiers, machine) and tier_count > 0
[[nodiscard]] ParsedTiers parse_tiers(std::string_view text, const Machine& machine) noexcept;

// What is wrong, as a clause that follows the word: "names a node without memory".
[[nodiscard]] const char* text_of(TierFault fault) noexcept;

}  // namespace cxltier
