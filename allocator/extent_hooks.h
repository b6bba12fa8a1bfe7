// SPDX-License-Identifier: Apache-2.0
//
// Memory for jemalloc's arenas out of one slot of the tier space.
//
//   alloc         takes from the slot
//   dalloc        refuses: the arena keeps the range and uses it again, after purge_forced
//   purge_forced  gives the pages back to the kernel; they read as zero
//   destroy       nothing: TierSpace::reset follows when the whole arena goes
//
// They run inside the arena's locks: bare system calls, no lock, no allocation.
#pragma once

#include <cstddef>

#include "allocator/jemalloc.h"

namespace cxltier::heap {

// jemalloc hands the hooks back to every hook, so what they need follows them.
struct SlotHooks {
  JemallocExtentHooks hooks;
  std::size_t slot;
};

[[nodiscard]] SlotHooks hooks_of_slot(std::size_t slot) noexcept;

}  // namespace cxltier::heap
