// SPDX-License-Identifier: Apache-2.0
//
// Which processes have pages on a node, and what the kernel itself keeps there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/os/file_tree.h"

namespace cxltier {

struct NodeUser {
  std::string process;    // "redis-server (1234)"; "the kernel" for slab and page tables
  std::uint64_t pid = 0;  // 0: the kernel
  std::uint64_t bytes = 0;
};

// The largest first, at most `count_max`; processes whose maps are closed to us are left out.
[[nodiscard]] std::vector<NodeUser> find_node_users(FileTree& tree, std::uint64_t node,
                                                    std::size_t count_max);

}  // namespace cxltier
