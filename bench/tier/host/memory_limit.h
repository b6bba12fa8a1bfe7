// SPDX-License-Identifier: Apache-2.0
//
// What this process's control groups still let it take: above it the kernel kills, and does not
// refuse.
//
//   limit and use of the own group, and of every group above it as far as it can be seen; the least
//   room of all counts
//
// Version 2 (memory.max, memory.current) and version 1 (memory.limit_in_bytes,
// memory.usage_in_bytes), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.  In a
// container the own group often stands at the root of what is mounted, so that is looked at too.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/os/file_tree.h"

namespace cxltier::bench {

inline constexpr std::uint64_t room_unlimited = std::numeric_limits<std::uint64_t>::max();

// Bytes; room_unlimited where nothing limits, or no group can be seen.
[[nodiscard]] std::uint64_t room_in_groups(FileTree& tree);

}  // namespace cxltier::bench
