// SPDX-License-Identifier: Apache-2.0
//
// What the heap says to the kernel about nodes: the second half of its door, beside pages.h.
//
// Bare system calls; errno is left as it was.  None is made before the runtime has said that it may
// be (TierTable::binding_permitted), since a service's filter may kill for it.
#pragma once

#include "allocator/placement.h"
#include "cxltier/heap.hpp"

namespace cxltier::heap {

// Gives a range its policy, by the first rung of its ladder that this kernel has:
//   prefer       MPOL_PREFERRED_MANY (Linux 5.15), MPOL_PREFERRED with the lowest node
//   interleave   MPOL_WEIGHTED_INTERLEAVE (6.9), MPOL_INTERLEAVE
//   strict       MPOL_BIND
// Returns whether one held.  Nothing is moved.
bool bind_pages(Range range, const Placement& placement) noexcept;

// As bind_pages over `range`, and pages inside that are on other nodes move, in steps so small that
// no page fault waits long.  Blocks until done.  Returns 0 or an errno.
int move_pages_to(Range range, const Placement& placement) noexcept;

// A node number, or a negative errno: -ENOENT no page there, -EFAULT no memory there.
int node_of_page(const void* address) noexcept;

}  // namespace cxltier::heap
