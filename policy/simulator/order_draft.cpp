// SPDX-License-Identifier: Apache-2.0
//
// Bookkeeping of orders.
#include "policy/simulator/order_draft.h"

#include <algorithm>

namespace cxltier::simulator {

OrderDraft::OrderDraft(const View& view, std::vector<Order>& orders)
    : tiers_(view.tier_count()), orders_(orders) {
  resident_.reserve(view.leaf_count());
  for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
    resident_.push_back(view.resident(leaf));
  }
  for (std::size_t t = 0; t < tiers_; ++t) free_[t] = view.free_units(t);
}

std::uint32_t OrderDraft::units_slow(std::size_t leaf) const {
  std::uint32_t units = 0;
  for (std::size_t t = 1; t < tiers_; ++t) units += resident_[leaf][t];
  return units;
}

std::uint32_t OrderDraft::move(std::size_t leaf, std::size_t from, std::size_t to,
                               std::uint64_t units_max) {
  const auto units = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({units_max, resident_[leaf][from], free_[to]}));
  if (units == 0) return 0;
  resident_[leaf][from] -= units;
  resident_[leaf][to] += units;
  free_[from] += units;
  free_[to] -= units;
  orders_.push_back({.leaf = static_cast<std::uint32_t>(leaf),
                     .from = static_cast<std::uint8_t>(from),
                     .to = static_cast<std::uint8_t>(to),
                     .units = units});
  return units;
}

std::uint32_t OrderDraft::promote(std::size_t leaf, std::uint64_t units_max) {
  std::uint32_t moved = 0;
  for (std::size_t t = tiers_ - 1; t > 0; --t) moved += move(leaf, t, 0, units_max - moved);
  return moved;
}

std::uint32_t OrderDraft::demote(std::size_t leaf, std::uint64_t units_max) {
  std::uint32_t moved = 0;
  for (std::size_t t = 1; t < tiers_; ++t) moved += move(leaf, 0, t, units_max - moved);
  return moved;
}

void rank_hottest_first(std::vector<RankedLeaf>& ranked) {
  std::ranges::sort(ranked, [](const RankedLeaf& a, const RankedLeaf& b) {
    return a.heat != b.heat ? a.heat > b.heat : a.leaf < b.leaf;
  });
}

}  // namespace cxltier::simulator
