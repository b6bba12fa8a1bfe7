// SPDX-License-Identifier: Apache-2.0
//
// Orders as they are written: a copy of the placement that each order changes, so that a policy
// sees what it has already decided.
//
// Orders are carried out in the order in which they were written.  One tick, one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/simulator/tiering_policy.h"

namespace cxltier::simulator {

class OrderDraft {
 public:
  OrderDraft(const View& view, std::vector<Order>& orders);

  [[nodiscard]] std::uint32_t units_on(std::size_t leaf, std::size_t tier) const {
    return resident_[leaf][tier];
  }
  // On any tier but the fastest.
  [[nodiscard]] std::uint32_t units_slow(std::size_t leaf) const;
  [[nodiscard]] std::uint64_t free_units(std::size_t tier) const { return free_[tier]; }

  // Both return how many units will move; less than asked for where there is no room or no unit.
  std::uint32_t move(std::size_t leaf, std::size_t from, std::size_t to, std::uint64_t units_max);
  // From the slowest tier up, to the fastest.
  std::uint32_t promote(std::size_t leaf, std::uint64_t units_max);
  // From the fastest to the next slower one with room.
  std::uint32_t demote(std::size_t leaf, std::uint64_t units_max);

 private:
  std::size_t tiers_;
  std::vector<Residence32> resident_;
  PerTier<std::uint64_t> free_{};
  std::vector<Order>& orders_;
};

// A leaf and what it is ranked by.
struct RankedLeaf {
  std::uint32_t leaf = 0;
  double heat = 0;
};

// Hottest first; equal heats in the order of leaves.
void rank_hottest_first(std::vector<RankedLeaf>& ranked);

}  // namespace cxltier::simulator
