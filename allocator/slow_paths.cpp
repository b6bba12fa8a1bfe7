// SPDX-License-Identifier: Apache-2.0
//
// Where malloc and free go when one comparison has told them that this is no common case.
#include "allocator/entry_point.h"

namespace cxltier::heap {

constinit TierHeap tier_heap;

void release_low_block(void* block) noexcept {
  if (tier_space.contains(block)) {
    tier_heap.release(block);
  } else {
    cxltier_je_free(block);
  }
}

// The hook first: it may change what is placed.
void* allocate_slowly(const Request& request, const void* caller) noexcept {
  attend_if_due(caller);
  if (request.size < growth_watch.large_from()) return nullptr;
  return tier_heap.allocate_large(request);
}

}  // namespace cxltier::heap
