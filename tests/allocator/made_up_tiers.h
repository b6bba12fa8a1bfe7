// SPDX-License-Identifier: Apache-2.0
//
// Two tiers for tests on any machine.  Both are node 0, the second with a node beside it that no
// machine here has, so that they are two classes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cxltier/tier_heap.hpp"

namespace cxltier::heap {

inline void two_tiers_on_node_0(TierTable& out) noexcept {
  out.tier_count = 2;
  for (std::size_t tier = 0; tier < 2; ++tier) {
    out.tiers[tier].nodes.words[0] = 1;
    out.tiers[tier].size_bytes = std::uint64_t{tier + 1} << 30;
    out.tiers[tier].dram = tier == 0;
  }
  out.tiers[1].nodes.words[15] = std::uint64_t{1} << 63;
  out.binding_permitted = true;
  out.moving_permitted = true;
  out.memory_bytes = std::size_t{8} << 30;
  out.cpu_count = 2;
}

}  // namespace cxltier::heap
