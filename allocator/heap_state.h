// SPDX-License-Identifier: Apache-2.0
//
// The pieces of state that the process's one heap has besides jemalloc's own.
//
// They are globals because malloc has no argument to carry them, and constant-initialised because
// the loader allocates before any constructor runs.
#pragma once

#include "allocator/growth_watch.h"
#include "allocator/range_table.h"
#include "allocator/tier_heap.h"
#include "allocator/tier_space.h"

// Hidden, so that malloc reaches the flag without the global offset table.
#pragma GCC visibility push(hidden)
namespace cxltier::heap {

extern constinit RangeTable mapped_ranges;
extern constinit GrowthWatch growth_watch;
extern constinit TierSpace tier_space;
extern constinit TierHeap tier_heap;

}  // namespace cxltier::heap
#pragma GCC visibility pop
