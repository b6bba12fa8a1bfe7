// SPDX-License-Identifier: Apache-2.0
//
// Ranges that the controller shall leave where they are.
//
// A pin is known in two ways: the runtime takes pinned ranges out of what it manages, and the range
// gets a memory policy of its own (prefer the nodes that its class has, else those of the fastest
// tier), which the kernel's NUMA balancing respects too.  Each pin may split a VMA twice, hence
// few.
#pragma once

#include <array>
#include <cstddef>

#include "allocator/tier_classes.h"
#include "cxltier/heap.hpp"

namespace cxltier::heap {

class PinTable {
 public:
  static constexpr std::size_t pins_max = 24;

  // The whole pages around [begin, begin + size).  0, ENOSPC, or EINVAL if it overlaps a pin or
  // ends beyond the address space.
  int add(const void* begin, std::size_t size, const TierTable& table) noexcept;
  // 0, or ENOENT if exactly these pages are not pinned.
  int remove(const void* begin, std::size_t size, const TierTable& table) noexcept;
  // Sorted; returns how many were written.
  std::size_t copy(Range* out, std::size_t count) noexcept;
  // While it is held pins neither come nor go: for forks.
  [[nodiscard]] YieldingLock& lock() noexcept { return lock_; }

 private:
  YieldingLock lock_;
  std::array<Range, pins_max> pins_{};
  std::size_t count_ = 0;
};

}  // namespace cxltier::heap
