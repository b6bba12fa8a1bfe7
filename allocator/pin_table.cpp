// SPDX-License-Identifier: Apache-2.0
//
// A sorted array under a lock: pins are few and seldom.
#include "allocator/pin_table.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "allocator/heap_state.h"
#include "allocator/numa_pages.h"

namespace cxltier::heap {
namespace {

// Empty if the range ends beyond the address space.
Range whole_pages(const void* begin, std::size_t size) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  if (size > UINTPTR_MAX - first - page) return {};
  return {first & ~(page - 1), (first + size + page - 1) & ~(page - 1)};
}

bool overlap(const Range& a, const Range& b) noexcept { return a.begin < b.end && b.begin < a.end; }

// Nodes where pages of the range shall stay: where its first page is.
Placement placement_of_pin(Range range, const TierTable& table) noexcept {
  Placement placement{Binding::prefer, {}};
  const int node = table.moving_permitted
                       ? node_of_page(reinterpret_cast<const void*>(range.begin))  // NOLINT
                       : -1;
  if (node >= 0 && node < static_cast<int>(node_ids_max)) {
    const auto at = static_cast<std::size_t>(node);
    placement.nodes.words[at / 64] |= std::uint64_t{1} << (at % 64);
  } else if (table.tier_count > 0) {
    placement.nodes = table.tiers[0].nodes;
  }
  return placement;
}

// What the range had before: the policy of its class, if it lies in one, else none.
Placement placement_without_pin(Range range) noexcept {
  const auto* const address = reinterpret_cast<const void*>(range.begin);  // NOLINT
  const std::size_t index = tier_heap.class_of_block(address);
  return index == TierClasses::none ? Placement{} : tier_heap.classes().class_at(index).placement;
}

}  // namespace

int PinTable::add(const void* begin, std::size_t size, const TierTable& table) noexcept {
  const Range range = whole_pages(begin, size);
  if (range.end == 0) return EINVAL;
  const LockHeld held(lock_);
  const auto used = pins_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (std::any_of(pins_.begin(), used, [&](const Range& pin) { return overlap(pin, range); })) {
    return EINVAL;
  }
  if (count_ == pins_.size()) return ENOSPC;
  const auto at =
      std::find_if(pins_.begin(), used, [&](const Range& pin) { return pin.begin > range.begin; });
  std::copy_backward(at, used, used + 1);
  *at = range;
  ++count_;
  if (table.tier_count >= 2 && table.binding_permitted) {
    bind_pages(range, placement_of_pin(range, table));
  }
  return 0;
}

int PinTable::remove(const void* begin, std::size_t size, const TierTable& table) noexcept {
  const Range range = whole_pages(begin, size);
  const LockHeld held(lock_);
  const auto used = pins_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto at = std::find(pins_.begin(), used, range);
  if (at == used) return ENOENT;
  std::copy(at + 1, used, at);
  --count_;
  if (table.tier_count >= 2 && table.binding_permitted) {
    bind_pages(range, placement_without_pin(range));
  }
  return 0;
}

std::size_t PinTable::copy(Range* out, std::size_t count) noexcept {
  const LockHeld held(lock_);
  const std::size_t written = std::min(count, count_);
  std::copy_n(pins_.begin(), written, out);
  return written;
}

}  // namespace cxltier::heap
