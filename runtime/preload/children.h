// SPDX-License-Identifier: Apache-2.0
//
// Whether programs that this one starts are preloaded too: CXLTIER_CHILDREN=inherit (default) or
// drop.
#pragma once

#include "runtime/settings/settings.h"

namespace cxltier {

// Carries the variable out on the environment block, in place; a wrong value is one line on
// standard error, and children inherit.  From the library's constructor, before anybody copies
// environ.
void apply_children_choice(char** environment, LogLevel log) noexcept;

// Takes the words that name the preload library out of a list as LD_PRELOAD holds it (separated by
// blanks or colons), in place.
void remove_own_library(char* list) noexcept;

}  // namespace cxltier
