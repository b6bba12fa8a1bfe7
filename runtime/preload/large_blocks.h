// SPDX-License-Identifier: Apache-2.0
//
// Whether the user wants large blocks shared over the tiers: CXLTIER_RATIO, else MEMKIND_MEM_TIERS.
#pragma once

#include "runtime/settings/settings.h"

namespace cxltier {

// Reads the environment; a wrong value is one line on standard error, and no ratio.
void read_large_blocks(LogLevel log) noexcept;

// Tells the heap, once, if there is a ratio.  On an application's thread outside all locks; may
// take some milliseconds.
void place_large_blocks_if_wanted() noexcept;

}  // namespace cxltier
