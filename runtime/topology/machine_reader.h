// SPDX-License-Identifier: Apache-2.0
//
// The machine as sysfs describes it.
//
// Nothing is allocated; a reading needs about 35 KiB of stack besides its result.  What a file does
// not say is unknown, never guessed: a node without CPUs is CXL only if a device proves it.  Any
// thread.
#pragma once

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/topology/finding.h"

namespace cxltier {

struct Reading {
  Machine machine;
  Findings findings;
};

// post: is_valid(machine), node_count > 0
// errors: those of FileTree::list for the folder of nodes; ENODEV if it holds no node
[[nodiscard]] Result<Reading> read_machine(FileTree& tree) noexcept;

}  // namespace cxltier
