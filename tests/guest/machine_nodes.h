// SPDX-License-Identifier: Apache-2.0
//
// The guest's memory nodes and counters, as sysfs and /proc tell them to anybody.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cxltier::guest {

// Nodes with CPUs are DRAM, nodes with memory and no CPU are CXL: true for the guest's topologies.
[[nodiscard]] std::vector<int> dram_nodes();
[[nodiscard]] std::vector<int> cxl_nodes();
// pre: the machine has one; start_preloaded() sees to that.
[[nodiscard]] int cxl_node();

// MemFree of a node, in bytes.
[[nodiscard]] std::uint64_t free_bytes(int node);

// A counter of /proc/vmstat; 0 if the kernel does not have it.
[[nodiscard]] std::uint64_t vmstat(const std::string& name);

}  // namespace cxltier::guest
