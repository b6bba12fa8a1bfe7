// SPDX-License-Identifier: Apache-2.0
//
// Carries out moves: page by page, in batches, and tells what the kernel did with each page.
//
//   pages of a region --locate--> those elsewhere --move--> --locate--> moved | refused, and why
//
// The second look counts, not the status that the move returned: the kernel stops at the first
// batch that fails and leaves the rest without a status, and a huge page moves whole, after which
// its other pages answer "busy" although they arrived.
//
// A region is stopped at when its target has no room left; what is refused is left to the policy's
// back-off.  Called only from the controller's thread; holds nothing between two batches.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "policy/leaf_map.h"
#include "policy/machine.h"
#include "runtime/os/call_timer.h"
#include "runtime/os/page_mover.h"
#include "runtime/sensor/access_bits.h"
#include "runtime/telemetry/page.h"

namespace cxltier {

// A node that may receive pages, and how many.
struct NodeRoom {
  NodeId node{};
  TierIndex tier = tier_none;
  Pages free{};
};

// Pages of an extent that lie on slower tiers than `to` (promote) or on faster ones (demote) move
// to `to`, at most `pages_max` of them.
struct ExtentMove {
  Extent extent;
  Direction direction = Direction::none;
  TierIndex to = tier_none;
  Pages pages_max{};
};

// Pages that were gone or already there are in neither count.
struct MoveOutcome {
  Pages moved;
  Pages refused;
  std::array<std::uint64_t, refusal_kinds> refused_by{};
};

// What a negative status of move_pages(2) means.
[[nodiscard]] Refusal refusal_of(int errno_number) noexcept;

// The node of `tier` with most room, or null if none has any.
[[nodiscard]] NodeRoom* choose_node(std::span<NodeRoom> rooms, TierIndex tier) noexcept;

struct MoverSeams {
  PageMover& pages;
  Clock& clock;
};

class Mover {
 public:
  Mover(const MoverSeams& seams, Bytes page_size) noexcept
      : seams_(seams), page_size_(page_size), timer_(seams.clock) {}

  // Takes what it used from `rooms`.  Ends early, without an error, when `stop` becomes true.
  MoveOutcome carry_out(const ExtentMove& move, const NodeTiers& tiers, std::span<NodeRoom> rooms,
                        const std::atomic<bool>& stop) noexcept;

  [[nodiscard]] Nanoseconds longest_call() const noexcept { return timer_.longest(); }

 private:
  using Addresses = std::array<std::uintptr_t, PageMover::batch_max>;

  std::size_t collect(AddressRange range, const ExtentMove& move, const NodeTiers& tiers) noexcept;
  void move_batch(std::size_t count, NodeRoom& room, MoveOutcome& outcome) noexcept;
  void settle(std::size_t count, NodeRoom& room, MoveOutcome& outcome) noexcept;
  Result<Done> locate(std::size_t count, std::span<int> status) noexcept;

  MoverSeams seams_;
  Bytes page_size_;
  CallTimer timer_;
  Addresses pages_{};
  std::array<int, PageMover::batch_max> status_{};
  std::array<int, PageMover::batch_max> where_{};
};

}  // namespace cxltier
