// SPDX-License-Identifier: Apache-2.0
//
// What every function that applications call has in common.
//
// CXLTIER_ENTRY exports one; exported_symbols.txt must name it too.  Entry points do exactly what
// glibc does, errno included, and never print.
#pragma once

#include "allocator/heap_state.h"

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

}  // namespace cxltier::heap
