// SPDX-License-Identifier: Apache-2.0
//
// Locate, move, locate again: a batch at a time, and what an errno of a page stands for.
#include "runtime/mover/mover.h"

#include <errno.h>

#include <algorithm>

namespace cxltier {

Refusal refusal_of(int errno_number) noexcept {
  switch (errno_number) {
    case EACCES:
      return Refusal::shared;
    case EBUSY:
    case EAGAIN:
      return Refusal::busy;
    case ENOMEM:
      return Refusal::no_memory;
    case ENOENT:
      return Refusal::absent;
    case EFAULT:
    case EIO:
    case EINVAL:
      return Refusal::unmovable;
    case EPERM:
    case ENODEV:
      return Refusal::forbidden;
    default:
      return Refusal::other;
  }
}

NodeRoom* choose_node(std::span<NodeRoom> rooms, TierIndex tier) noexcept {
  NodeRoom* best = nullptr;
  for (NodeRoom& room : rooms) {
    if (room.tier != tier || room.free.count == 0) continue;
    if (best == nullptr || room.free > best->free) best = &room;
  }
  return best;
}

MoveOutcome Mover::carry_out(const ExtentMove& move, const NodeTiers& tiers,
                             std::span<NodeRoom> rooms, const std::atomic<bool>& stop) noexcept {
  MoveOutcome outcome;
  const std::uintptr_t end =
      (move.extent.first_page.value + move.extent.page_count) * page_size_.count;
  const std::uint64_t step = PageMover::batch_max * page_size_.count;
  std::uint64_t wanted = move.pages_max.count;
  for (std::uintptr_t at = move.extent.first_page.value * page_size_.count;
       at < end && wanted > 0 && !stop.load(std::memory_order_relaxed); at += step) {
    const AddressRange part{at, std::min<std::uintptr_t>(at + step, end)};
    const std::size_t count = std::min<std::uint64_t>(collect(part, move, tiers), wanted);
    if (count == 0) continue;
    wanted -= count;
    NodeRoom* room = choose_node(rooms, move.to);
    if (room == nullptr) {
      outcome.refused_by[static_cast<std::size_t>(Refusal::no_memory)] += count;
      outcome.refused += Pages{count};
      break;
    }
    move_batch(std::min<std::size_t>(count, room->free.count), *room, outcome);
  }
  return outcome;
}

// Gathers into pages_ the pages of `range` that the move is about; returns how many.
std::size_t Mover::collect(AddressRange range, const ExtentMove& move,
                           const NodeTiers& tiers) noexcept {
  const std::size_t all = range.size() / page_size_.count;
  for (std::size_t i = 0; i < all; ++i) pages_[i] = range.begin + i * page_size_.count;
  if (!locate(all, where_).ok()) return 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (where_[i] < 0) continue;
    const TierIndex tier = tiers.of(static_cast<NodeId>(where_[i]));
    if (tier == tier_none) continue;
    const bool elsewhere = move.direction == Direction::promote ? tier > move.to : tier < move.to;
    if (elsewhere) pages_[count++] = pages_[i];
  }
  return count;
}

void Mover::move_batch(std::size_t count, NodeRoom& room, MoveOutcome& outcome) noexcept {
  const auto batch = std::span(pages_).first(count);
  const auto status = std::span(status_).first(count);
  const Result<Done> moved =
      timer_.time([&] { return seams_.pages.move(batch, room.node, status); });
  if (!moved.ok()) std::fill(status.begin(), status.end(), -moved.error());
  settle(count, room, outcome);
}

// Counts each page of the batch by where it is now.
void Mover::settle(std::size_t count, NodeRoom& room, MoveOutcome& outcome) noexcept {
  const auto target = static_cast<int>(index_of(room.node));
  const bool all = std::all_of(status_.begin(), status_.begin() + static_cast<long>(count),
                               [&](int status) { return status == target; });
  const bool looked = !all && locate(count, where_).ok();
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int now = looked ? where_[i] : status_[i];
    if (now == target) {
      ++moved;
      continue;
    }
    const int why = status_[i] < 0 ? -status_[i] : (now < 0 ? -now : EAGAIN);
    ++outcome.refused_by[static_cast<std::size_t>(refusal_of(why))];
  }
  outcome.moved += Pages{moved};
  outcome.refused += Pages{count - moved};
  room.free = {room.free.count - std::min<std::uint64_t>(room.free.count, moved)};
  // The node said it is full: believe it over what meminfo promised.
  const auto is_full = [](int status) { return status == -ENOMEM; };
  if (std::any_of(status_.begin(), status_.begin() + static_cast<long>(count), is_full)) {
    room.free = {0};
  }
}

Result<Done> Mover::locate(std::size_t count, std::span<int> status) noexcept {
  return timer_.time(
      [&] { return seams_.pages.locate(std::span(pages_).first(count), status.first(count)); });
}

}  // namespace cxltier
