// SPDX-License-Identifier: Apache-2.0
//
// Which nodes a process may use: those of the CPUs that it may run on, and those that it may
// allocate from (cpuset and affinity, as /proc/PID/status prints them).
#pragma once

#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier {

struct ProcessNodes {
  NodeSet own;      // nodes of its CPUs; empty: not known, take every node that has CPUs
  NodeSet allowed;  // nodes that it may allocate from; empty: not known
};

// `status_path` is "proc/self/status" or another process's.  Lines that are missing leave their set
// empty.  errors: those of FileTree::read.
[[nodiscard]] Result<ProcessNodes> read_process_nodes(
    FileTree& tree, const char* status_path = "proc/self/status") noexcept;

// ProcessNodes::allowed alone: one file.
[[nodiscard]] Result<NodeSet> read_allowed_nodes(
    FileTree& tree, const char* status_path = "proc/self/status") noexcept;

}  // namespace cxltier
