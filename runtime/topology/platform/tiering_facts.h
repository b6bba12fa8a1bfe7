// SPDX-License-Identifier: Apache-2.0
//
// Settings of the kernel that decide how memory tiers are used, and what a tiering runtime may
// sense.
//
// Sources: Documentation/admin-guide/sysctl/{kernel,vm}.rst, Documentation/ABI/testing/
// sysfs-kernel-mm-{numa,mempolicy-weighted-interleave}, Linux 6.12 and 6.16.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/topology/platform/files.h"

namespace cxltier {

// Pages of a node that cannot be moved away, in bytes.
struct NodeUse {
  std::uint64_t slab = 0;
  std::uint64_t page_tables = 0;
  std::uint64_t kernel_stack = 0;
  std::uint64_t huge_pages_total = 0;  // pages of the huge page pool
};

struct TieringFacts {
  std::optional<bool> demotion_enabled;
  std::optional<std::uint64_t> numa_balancing;  // bits: 1 balancing, 2 memory tiering
  std::optional<std::uint64_t> zone_reclaim_mode;
  std::map<std::uint64_t, std::uint64_t> weights;  // of weighted interleave, by node
  std::optional<bool> weights_auto;                // 6.16 and later
  std::string huge_pages;  // the word in brackets: "always", "madvise", "never"
  std::optional<std::int64_t> perf_event_paranoid;
  std::optional<bool> unprivileged_userfaultfd;
  std::map<std::uint64_t, NodeUse> use;           // by node
  std::map<std::string, std::uint64_t> counters;  // pgpromote_*, pgdemote_* of vmstat
  // Nodes of each zone that holds pages: "Movable", "Normal", ...
  std::map<std::uint64_t, std::vector<std::string>> zones;
};

[[nodiscard]] TieringFacts read_tiering_facts(Files& files);

// What the kernel lets this process do; of the reader itself, so it says nothing on a snapshot.
struct ContainerFacts {
  bool seccomp_filter = false;              // "Seccomp: 2"
  std::string memory_nodes;                 // Mems_allowed_list
  std::optional<std::uint64_t> memory_max;  // of the own control group, bytes
  std::string control_group;                // its path, from the unified hierarchy
  bool in_container = false;                // a marker file of a container engine
  bool is_sys_hidden = false;               // no nodes in sysfs
  bool has_sys_nice = false;                // CAP_SYS_NICE is effective
};

[[nodiscard]] ContainerFacts read_container_facts(Files& files);

}  // namespace cxltier
