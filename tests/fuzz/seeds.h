// SPDX-License-Identifier: Apache-2.0
//
// Where fuzzing starts: real files of the snapshots in tests/fixtures, and short texts by hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cxltier::fuzz {

// Inputs for the parser of that name, in an order that does not depend on the file system; each at
// most 64 KiB.  `fixtures`: the folder of the unpacked snapshots.
[[nodiscard]] std::vector<std::string> seeds_of(std::string_view parser,
                                                const std::string& fixtures);

}  // namespace cxltier::fuzz
