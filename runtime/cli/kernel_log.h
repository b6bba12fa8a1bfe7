// SPDX-License-Identifier: Apache-2.0
//
// The running kernel's log, as `dmesg` prints it.
#pragma once

#include <string>

namespace cxltier {

// Empty if the kernel does not show it to this user (kernel.dmesg_restrict).
[[nodiscard]] std::string read_kernel_log();

}  // namespace cxltier
