// SPDX-License-Identifier: Apache-2.0
//
// Tiers from distances: which node is how far down, seen from the CPUs of one process.
//
// Each node that may hold pages gets a rank that compares as a tuple,
//
//     (group, latency, distance)      group 0  DRAM of own nodes   latency and distance not looked
//     at
//                                     group 1  other DRAM          latency not looked at
//                                     group 2  CXL                 unknown values rank last
//
// and nodes of equal rank share a tier.  More than tiers_max ranks: the slowest share the last
// tier. Rejected: ranking DRAM by the firmware's latency, since that is the latency from the node's
// own CPU and therefore the same for every socket.
#include "policy/machine.h"

#include <algorithm>
#include <bit>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::uint32_t value_unknown = 0xffff'ffff;

struct Rank {
  std::uint32_t group = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t distance = 0;
  friend constexpr auto operator<=>(const Rank&, const Rank&) = default;
};

NodeSet nodes_with_cpus(const Machine& machine) {
  NodeSet found;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].cpu_count > 0) found.insert(machine.nodes[i].id);
  }
  return found;
}

// The distance of a node from the nearest own node.
std::uint32_t distance_from(const Machine& machine, const NodeSet& own, std::size_t position) {
  std::uint32_t nearest = value_unknown;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const std::uint32_t distance = machine.distance[i][position];
    if (own.contains(machine.nodes[i].id) && distance != 0) nearest = std::min(nearest, distance);
  }
  return nearest;
}

bool may_hold_pages(const Node& node) {
  return node.size.count > 0 && (node.kind == NodeKind::dram || node.kind == NodeKind::cxl);
}

// pre: may_hold_pages(node at position)
Rank rank_of(const Machine& machine, const NodeSet& own, std::size_t position) {
  const Node& node = machine.nodes[position];
  const std::uint32_t distance = distance_from(machine, own, position);
  if (node.kind == NodeKind::dram) {
    return own.contains(node.id) ? Rank{0, 0, 0} : Rank{1, 0, distance};
  }
  const std::uint32_t latency = node.performance.read_latency_ns;
  return {2, latency == 0 ? value_unknown : latency, distance};
}

}  // namespace

bool is_valid(const Machine& machine) noexcept {
  if (machine.node_count > nodes_max) return false;
  if (!std::has_single_bit(machine.page_size.count)) return false;
  if (machine.huge_page_size < machine.page_size) return false;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (index_of(machine.nodes[i].id) >= node_ids_max) return false;
    if (i > 0 && machine.nodes[i - 1].id >= machine.nodes[i].id) return false;
  }
  return true;
}

bool is_valid(const TierMap& tiers, const Machine& machine) noexcept {
  if (tiers.tier_count > tiers_max) return false;
  std::array<bool, tiers_max> used{};
  for (std::size_t i = 0; i < nodes_max; ++i) {
    const TierIndex tier = tiers.tier_of[i];
    if (tier == tier_none) continue;
    if (i >= machine.node_count || machine.nodes[i].size.count == 0) return false;
    if (index_of(tier) >= tiers.tier_count) return false;
    used[index_of(tier)] = true;
  }
  const auto unused = std::find(used.begin(), used.begin() + tiers.tier_count, false);
  return unused == used.begin() + tiers.tier_count;
}

std::size_t position_of(const Machine& machine, NodeId node) noexcept {
  const auto end = machine.nodes.begin() + machine.node_count;
  const auto found = std::find_if(machine.nodes.begin(), end,
                                  [node](const Node& other) { return other.id == node; });
  return static_cast<std::size_t>(found - machine.nodes.begin());
}

TierMap assign_tiers(const Machine& machine, const NodeSet& own_nodes) noexcept {
  CXLTIER_CHECK(is_valid(machine));
  const NodeSet own = own_nodes.empty() ? nodes_with_cpus(machine) : own_nodes;
  std::array<Rank, nodes_max> ranks{};
  std::size_t rank_count = 0;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (may_hold_pages(machine.nodes[i])) ranks[rank_count++] = rank_of(machine, own, i);
  }
  std::sort(ranks.begin(), ranks.begin() + rank_count);
  const auto ranks_end = std::unique(ranks.begin(), ranks.begin() + rank_count);

  TierMap tiers;
  tiers.tier_count = static_cast<std::uint8_t>(
      std::min(tiers_max, static_cast<std::size_t>(ranks_end - ranks.begin())));
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (!may_hold_pages(machine.nodes[i])) continue;
    const auto rank = std::lower_bound(ranks.begin(), ranks_end, rank_of(machine, own, i));
    const auto tier = std::min(rank - ranks.begin(), static_cast<std::ptrdiff_t>(tiers_max) - 1);
    tiers.tier_of[i] = static_cast<TierIndex>(tier);
  }
  CXLTIER_CHECK_DEBUG(is_valid(tiers, machine));
  return tiers;
}

}  // namespace cxltier
