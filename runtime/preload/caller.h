// SPDX-License-Identifier: Apache-2.0
//
// Whose code called malloc.
#pragma once

namespace cxltier {

// Whether an address lies in libc or the dynamic loader, which call malloc with their own locks
// held.  Also true if that cannot be found out.  Walks /proc/self/maps: seldom calls only.
[[nodiscard]] bool is_system_code(const void* address) noexcept;

}  // namespace cxltier
