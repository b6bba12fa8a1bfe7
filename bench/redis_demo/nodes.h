// SPDX-License-Identifier: Apache-2.0
//
// The machine as the demo needs it: which nodes are DRAM, which one is CXL, and which CPUs serve
// and ask.  Also the kernel's NUMA balancing: its switch and its counter.
//
// DRAM is a node with CPUs and memory; CXL is a node with memory and without CPUs.  That is right
// in the guests that this program is made for; elsewhere --cxl-node says it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cxltier::demo {

struct Nodes {
  std::vector<int> dram;
  int cxl = -1;        // -1: none
  int cpu_server = 0;  // first CPU of the first DRAM node
  int cpu_client = 0;  // first CPU of the second DRAM node, else another CPU of the first
  int dram_first() const { return dram.front(); }
  bool is_dram(int node) const;
};

// errors: throws Failure when no node has CPUs and memory, or when the asked node has no memory
Nodes read_nodes(std::optional<int> cxl_node);

// MemFree of one node; 0 when it cannot be read.
std::uint64_t free_bytes(int node);

// Counts of /proc/vmstat; 0 when the kernel has no NUMA balancing.
std::uint64_t numa_pages_migrated();

// Restores kernel.numa_balancing as it was when this was made.
class NumaBalancing {
 public:
  NumaBalancing();
  ~NumaBalancing();
  NumaBalancing(const NumaBalancing&) = delete;
  NumaBalancing& operator=(const NumaBalancing&) = delete;
  // -1 when the kernel has no such switch.
  int value() const;
  // Without the switch only 0 is accepted.  errors: throws Failure
  void set(int value);

 private:
  int value_at_start_;
};

// Pins a process (0: the caller) to one CPU.  errors: throws Failure
void pin_to_cpu(int pid, int cpu);

}  // namespace cxltier::demo
