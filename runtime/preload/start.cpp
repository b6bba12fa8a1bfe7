// SPDX-License-Identifier: Apache-2.0
//
// What the preload library does before main.
//
// The heap serves from the loader's first malloc on; this constructor only fixes the order of the
// fork handlers: the allocator's are registered before anyone else's.
#include "cxltier/heap.h"

namespace {

// 101 is the first priority that is not reserved for the implementation.
__attribute__((constructor(101))) void start() { cxltier::heap::initialize(); }

}  // namespace
