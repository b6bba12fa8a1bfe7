// SPDX-License-Identifier: Apache-2.0
//
// The machine profile: a flat text for programs without a JSON parser.  README.md has the keys.
#pragma once

#include <string>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

// Only figures that no rule calls invalid.
[[nodiscard]] std::string profile_of(const Document& document);

// Whether a profile's text has any figure: on a busy host none may be valid.
[[nodiscard]] bool has_figures(const std::string& profile);

}  // namespace cxltier::bench
