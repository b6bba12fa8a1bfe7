// SPDX-License-Identifier: Apache-2.0
//
// The controller's thread of this process, as the kernel shows it to anybody.
#pragma once

#include <cstdint>
#include <optional>

namespace cxltier::guest {

// The thread named "cxltier", or nothing.
[[nodiscard]] std::optional<int> controller_thread();

// Processor time that it has used; 0 if there is none.
[[nodiscard]] std::uint64_t controller_cpu_ns();

}  // namespace cxltier::guest
