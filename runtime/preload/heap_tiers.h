// SPDX-License-Identifier: Apache-2.0
//
// Tells the heap which nodes make up which tier, when the program's first hint asks for it.
//
// The machine is read on a thread of its own that is waited for: reading needs more stack than some
// threads of the application have, and opens files, which must not show in its descriptor table.
// Where that thread cannot be, the heap knows no tiers, and hints are ignored.
#pragma once

#include "runtime/settings/settings.h"

namespace cxltier {

// From the library's constructor; reads nothing yet.
void offer_heap_tiers(const Settings& settings) noexcept;

}  // namespace cxltier
