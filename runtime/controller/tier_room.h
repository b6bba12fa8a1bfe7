// SPDX-License-Identifier: Apache-2.0
//
// How much of each tier the process has and may have.
//
//   used       its anonymous pages on the tier's nodes, managed or not
//   capacity   used + what is free there beyond a reserve, or the user's limit if that is less
//
// A limit for DRAM covers local and remote DRAM together: the fastest tier takes what it can of it,
// the next DRAM tier gets the rest.  The reserve keeps a node from being filled to the point where
// the kernel starts to reclaim.  Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "policy/machine.h"
#include "runtime/mover/mover.h"
#include "runtime/settings/settings.h"

namespace cxltier {

// Pages of one node, by position in Machine::nodes.
struct NodePages {
  Pages anonymous{};  // of this process
  Pages free{};       // of the whole machine
  Pages reserve{};    // of that, what is not to be filled
};

// The user's limits by tier of this machine; ~0 is none.
struct TierCaps {
  std::array<Pages, tiers_max> cap;
  std::array<bool, tiers_max> is_dram{};  // shares dram_total with the other DRAM tiers
  Pages dram_total{};
};
inline constexpr Pages pages_unlimited{~std::uint64_t{0}};

// Translates "dram", "cxl" and "tierN" limits for this machine.
[[nodiscard]] TierCaps caps_of(const Settings& settings, const Machine& machine,
                               const TierMap& tiers) noexcept;

// The first of the tiers to which a program shall grow while it is over a limit: those slower than
// every limited one but the slowest, which has nowhere to go.  tiers.tier_count if there is none.
[[nodiscard]] std::size_t slower_from(const TierCaps& caps, const TierMap& tiers) noexcept;
// Their nodes.
[[nodiscard]] NodeSet slower_nodes(const TierCaps& caps, const Machine& machine,
                                   const TierMap& tiers) noexcept;

// What this process holds in a tier, managed by us or not, and what it may hold there right now:
// its limit, or what it has plus what is free above the kernel's watermark, whichever is less.
struct TierLimit {
  Pages used{};
  Pages capacity{};
};

struct TierRoom {
  std::array<TierLimit, tiers_max> tiers{};
  std::array<Pages, tiers_max> over_limit{};  // pages beyond the user's limit
  std::array<NodeRoom, nodes_max> nodes{};    // what the mover may fill
  std::size_t node_count = 0;
};

// pre: by_node.size() == machine.node_count
[[nodiscard]] TierRoom measure_room(const Machine& machine, const TierMap& tiers,
                                    std::span<const NodePages> by_node,
                                    const TierCaps& caps) noexcept;

// Of a node's memory at least this part stays free, and at least what the kernel's own watermark
// is.  The kernel wakes its reclaim at about 1 % (vm.watermark_scale_factor), at more on small
// nodes.
inline constexpr std::uint64_t reserve_divisor = 64;
[[nodiscard]] Pages reserve_of_node(Pages size, Pages watermark) noexcept;

}  // namespace cxltier
