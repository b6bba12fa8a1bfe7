// SPDX-License-Identifier: Apache-2.0
//
// Names of untrusted files, made safe to show.
#pragma once

#include <string>

namespace cxltier {

// The text with every byte that is not printable ASCII as '?': control characters would reach the
// terminal.
[[nodiscard]] std::string printable(const std::string& text);

}  // namespace cxltier
