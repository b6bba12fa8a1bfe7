// SPDX-License-Identifier: Apache-2.0
//
// Adds up nodes by tier, and deals the limit that DRAM tiers share, fastest tier first.
#include "runtime/controller/tier_room.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

Pages less(Pages a, Pages b) noexcept { return {a.count > b.count ? a.count - b.count : 0}; }

void lower(Pages& cap, const std::optional<Bytes>& limit, Bytes page_size) noexcept {
  if (limit) cap = std::min(cap, pages_of(*limit, page_size));
}

// Deals the common DRAM limit out, fastest tier first, and returns each tier's own limit.
std::array<Pages, tiers_max> deal_caps(const TierCaps& caps,
                                       const std::array<TierLimit, tiers_max>& room) noexcept {
  std::array<Pages, tiers_max> own = caps.cap;
  Pages dram = caps.dram_total;
  for (std::size_t t = 0; t < tiers_max; ++t) {
    if (!caps.is_dram[t] || caps.dram_total == pages_unlimited) continue;
    own[t] = std::min(own[t], dram);
    dram = less(dram, std::min(own[t], room[t].capacity));
  }
  return own;
}

}  // namespace

TierCaps caps_of(const Settings& settings, const Machine& machine, const TierMap& tiers) noexcept {
  TierCaps caps;
  caps.cap.fill(pages_unlimited);
  caps.dram_total = pages_unlimited;
  lower(caps.dram_total, settings.limit_dram, machine.page_size);
  for (std::size_t t = 0; t < tiers_max; ++t) {
    lower(caps.cap[t], settings.limit_tier[t], machine.page_size);
  }
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (tiers.tier_of[i] == tier_none) continue;
    const std::size_t t = index_of(tiers.tier_of[i]);
    if (machine.nodes[i].kind == NodeKind::dram) caps.is_dram[t] = true;
    if (machine.nodes[i].kind == NodeKind::cxl) {
      lower(caps.cap[t], settings.limit_cxl, machine.page_size);
    }
  }
  return caps;
}

std::size_t slower_from(const TierCaps& caps, const TierMap& tiers) noexcept {
  for (std::size_t t = tiers.tier_count; t-- > 0;) {
    const bool by_dram = caps.is_dram[t] && caps.dram_total != pages_unlimited;
    const bool limited = by_dram || caps.cap[t] != pages_unlimited;
    if (limited && t + 1 < tiers.tier_count) return t + 1;
  }
  return tiers.tier_count;
}

NodeSet slower_nodes(const TierCaps& caps, const Machine& machine, const TierMap& tiers) noexcept {
  const std::size_t from = slower_from(caps, tiers);
  NodeSet nodes;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const TierIndex tier = tiers.tier_of[i];
    if (tier != tier_none && index_of(tier) >= from) nodes.insert(machine.nodes[i].id);
  }
  return nodes;
}

Pages reserve_of_node(Pages size, Pages watermark) noexcept {
  return std::max(Pages{size.count / reserve_divisor}, watermark);
}

TierRoom measure_room(const Machine& machine, const TierMap& tiers,
                      std::span<const NodePages> by_node, const TierCaps& caps) noexcept {
  CXLTIER_CHECK(by_node.size() == machine.node_count);
  TierRoom room;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const TierIndex tier = tiers.tier_of[i];
    if (tier == tier_none) continue;
    const Pages free = less(by_node[i].free, by_node[i].reserve);
    TierLimit& limit = room.tiers[index_of(tier)];
    limit.used += by_node[i].anonymous;
    limit.capacity += by_node[i].anonymous + free;
    room.nodes[room.node_count++] = {machine.nodes[i].id, tier, free};
  }
  const std::array<Pages, tiers_max> own = deal_caps(caps, room.tiers);
  for (std::size_t t = 0; t < tiers_max; ++t) {
    room.over_limit[t] = less(room.tiers[t].used, own[t]);
    room.tiers[t].capacity = std::min(room.tiers[t].capacity, own[t]);
  }
  return room;
}

}  // namespace cxltier
