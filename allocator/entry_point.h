// SPDX-License-Identifier: Apache-2.0
//
// What every function that applications call has in common.
//
// CXLTIER_ENTRY exports one; exported_symbols.txt must name it too.  Entry points do exactly what
// glibc does, errno included, and never print.
#pragma once

#include <cstdint>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"

#define CXLTIER_ENTRY extern "C" __attribute__((visibility("default")))
#define CXLTIER_COLD __attribute__((noinline, cold))
// The address that the entry point returns to.
#define CXLTIER_CALLER __builtin_return_address(0)

namespace cxltier::heap {

// The first thing that an allocating entry point does, with no lock held: one load and one branch.
// `caller` is its return address.
__attribute__((always_inline)) inline void attend_if_due(const void* caller) noexcept {
  if (growth_watch.due()) [[unlikely]] {
    growth_watch.attend(caller);
  }
}

// Whether a block may lie in a class; what is above has none.  One comparison.
__attribute__((always_inline)) inline bool may_have_class(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) < tier_space.end();
}

// Apart, so that free() has no frame.  Also takes null, and blocks that lie low for other reasons.
CXLTIER_COLD void release_low_block(void* block) noexcept;

// The slow way of an allocation: runs a due hook, and places a large block.  nullptr: the plain
// way.
CXLTIER_COLD void* allocate_slowly(const Request& request, const void* caller) noexcept;

// What every function that ends a block's life does.
__attribute__((always_inline)) inline void release_block(void* block) noexcept {
  if (may_have_class(block)) [[unlikely]] {
    return release_low_block(block);
  }
  cxltier_je_free(block);
}

}  // namespace cxltier::heap
