// SPDX-License-Identifier: Apache-2.0
//
// Published machines, as documents like our own: drawn beside what is measured, compared with, and
// put through the same validity rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

// A published machine, or a path.
[[nodiscard]] bool is_reference(std::string_view name);
// "intel-snc4-eurosys24, ..."
[[nodiscard]] std::string reference_names();
// One line per machine: name, what it is, source.
[[nodiscard]] std::string reference_list();
// A name that has a slash or ends in .json is a file of the user's (curves_file.h).  Throws
// std::invalid_argument, with the place and the cause, if that cannot be read.
// pre: is_reference(name)
[[nodiscard]] Document read_reference(std::string_view name);

// The two data files as they were compiled in.
[[nodiscard]] std::string_view published_tiers_json() noexcept;
[[nodiscard]] std::string_view eurosys24_curves_json() noexcept;

}  // namespace cxltier::bench
