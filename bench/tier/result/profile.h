// SPDX-License-Identifier: Apache-2.0
//
// The machine profile: a flat text for programs without a JSON parser.  README.md has the keys.
#pragma once

#include <string>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

// Only figures that no rule calls invalid.
[[nodiscard]] std::string profile_of(const Document& document);

}  // namespace cxltier::bench
