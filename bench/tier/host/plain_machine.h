// SPDX-License-Identifier: Apache-2.0
//
// The machine, also where nothing describes its nodes: a kernel without NUMA, or a container that
// hides sysfs.  Then there is one node of DRAM, which holds all memory and all CPUs.
#pragma once

#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier::bench {

struct SeenMachine {
  Machine machine;
  bool nodes_seen = true;  // false: the one node is assumed
};

// errors: those of read_machine other than ENOENT; ENOENT where proc/meminfo is hidden too
[[nodiscard]] Result<SeenMachine> see_machine(FileTree& tree);

}  // namespace cxltier::bench
