// SPDX-License-Identifier: Apache-2.0
//
// The processors that this process may use, by node, one per core; and the size of their last
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier::bench {

struct NodeProcessors {
  NodeId node{};
  std::vector<unsigned> cpus;  // one per core, in order; further hardware threads are left idle
};

struct Processors {
  std::vector<NodeProcessors> nodes;  // those with a CPU that this process may use
  std::size_t usable = 0;             // CPUs that it may use, siblings included
  std::uint64_t llc_bytes = 0;        // of one last-level cache; 0: not known
  std::uint64_t llc_total_bytes = 0;  // of all of them
};

[[nodiscard]] Processors read_processors(FileTree& tree, const Machine& machine);

// Keeps the calling thread on one CPU; 0 or an errno.
int pin_thread(unsigned cpu) noexcept;

// "32768K" or "1M" as sysfs writes cache sizes; 0 if it cannot be understood.
[[nodiscard]] std::uint64_t parse_cache_size(std::string_view text) noexcept;

}  // namespace cxltier::bench
