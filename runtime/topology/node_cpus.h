// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs belong to which node.
//
// The list file is preferred and the mask file is the fallback: old kernels have masks only, and a
// list longer than a TreeText (every other CPU of thousands) is cut where a mask never is.
#pragma once

#include <optional>
#include <string_view>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/topology/sysfs_text.h"

namespace cxltier {

// The CPUs that the node's files name, online or not; nothing if neither file can be understood.
[[nodiscard]] std::optional<CpuSet> cpus_of_node(FileTree& tree, NodeId node) noexcept;

// The online CPUs of the machine; nothing if no file says so, and then all are.
[[nodiscard]] std::optional<CpuSet> cpus_online(FileTree& tree) noexcept;

// The online nodes, as the kernel lists them, else by their folders.
[[nodiscard]] Result<NodeSet> nodes_online(FileTree& tree) noexcept;

// The nodes that have one of the CPUs in a list such as "0-3,8"; what is malformed is left out.
[[nodiscard]] NodeSet nodes_of_cpus(FileTree& tree, std::string_view cpu_list) noexcept;

}  // namespace cxltier
