// SPDX-License-Identifier: Apache-2.0
//
// What this process, or the container that it runs in, is allowed to do.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"
#include "runtime/topology/sysfs_text.h"

namespace cxltier {
namespace {

// Nodes with memory that the process may not allocate from.
std::vector<std::size_t> forbidden_nodes(const Platform& platform, const NodeSet& allowed) {
  std::vector<std::size_t> nodes;
  for (const Node* node : cxl_nodes(platform)) {
    if (node->size.count > 0 && !allowed.contains(node->id)) nodes.push_back(index_of(node->id));
  }
  return nodes;
}

void add_container_fix(const Platform& platform, Diagnosis& found) {
  const ContainerFacts& facts = platform.container;
  if (facts.in_container) {
    found.fix(
        "container: --cap-add SYS_NICE, or --security-opt seccomp=PROFILE with mbind, "
        "move_pages, set_mempolicy and userfaultfd allowed");
    found.fix(
        "pod: securityContext: {capabilities: {add: [SYS_NICE]}}, or seccompProfile: "
        "{type: Localhost, localhostProfile: PROFILE}");
  } else {
    found.fix(
        "systemd unit: SystemCallFilter=mbind move_pages set_mempolicy userfaultfd, or "
        "SystemCallErrorNumber=EPERM so that a forbidden call fails instead of killing");
  }
}

}  // namespace

Diagnosis check_cpuset(const Platform& platform) {
  if (cxl_nodes(platform).empty()) return skipped("no CXL node yet");
  const std::string& list = platform.container.memory_nodes;
  NodeSet allowed;
  if (list.empty() || !parse_node_list(list, allowed)) {
    return skipped("the allowed nodes cannot be read here");
  }
  Diagnosis found;
  found.show("proc/self/status", "Mems_allowed_list: " + list);
  const std::vector<std::size_t> nodes = forbidden_nodes(platform, allowed);
  if (nodes.empty()) {
    found.summary = "nodes " + list;
    return found;
  }
  found.problem(CheckState::fail,
                fmt::format("the cpuset leaves out the CXL node{} {}", nodes.size() == 1 ? "" : "s",
                            fmt::join(nodes, ", ")));
  found.fix(fmt::format("container: --cpuset-mems {},{}", list, fmt::join(nodes, ",")));
  found.fix(fmt::format("control group: echo {},{} > /sys/fs/cgroup{}/cpuset.mems", list,
                        fmt::join(nodes, ","), platform.container.control_group));
  found.fix(
      "pod: the kubelet's memory manager policy 'None', or reserve the CXL nodes with "
      "reservedMemory");
  return found;
}

Diagnosis check_container(const Platform& platform) {
  const ContainerFacts& facts = platform.container;
  if (platform.is_snapshot && facts.memory_nodes.empty()) {
    return skipped("a snapshot does not say what a process may do");
  }
  Diagnosis found;
  if (facts.is_sys_hidden) {
    found.problem(CheckState::fail, "/sys shows no nodes");
    found.show("sys/devices/system/node", "missing or empty");
    found.fix("container: --volume /sys:/sys:ro; pod: a hostPath volume of /sys, read-only");
  }
  if (facts.seccomp_filter && !facts.has_sys_nice) {
    found.problem(CheckState::warn,
                  "a system call filter is active: mbind and move_pages may be "
                  "forbidden, or kill the process");
    found.show("proc/self/status", "Seccomp: 2");
    add_container_fix(platform, found);
  }
  if (facts.memory_max && platform.reading) {
    std::uint64_t total = 0;
    const Machine& machine = platform.reading->machine;
    for (std::size_t i = 0; i < machine.node_count; ++i) total += machine.nodes[i].size.count;
    if (*facts.memory_max < total / 2) {
      found.show("sys/fs/cgroup" + facts.control_group + "/memory.max",
                 bytes_text(*facts.memory_max) + ", for DRAM and CXL together");
    }
  }
  if (found.state != CheckState::ok) return found;
  found.summary = facts.in_container ? "in a container, nothing in the way" : "nothing in the way";
  return found;
}

Diagnosis check_huge_pages(const Platform& platform) {
  const std::string& mode = platform.tiering.huge_pages;
  if (mode.empty()) return skipped("the setting cannot be read here");
  Diagnosis found = fine(mode);
  found.show("sys/kernel/mm/transparent_hugepage/enabled", mode);
  if (mode == "never") {
    found.problem(CheckState::warn,
                  "transparent huge pages are off: heat costs a hundred times more to "
                  "read, and CXL memory is slower for lack of TLB reach");
    found.fix("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  return found;
}

Diagnosis check_sensors(const Platform& platform) {
  const TieringFacts& tiering = platform.tiering;
  if (!tiering.perf_event_paranoid && !tiering.unprivileged_userfaultfd) {
    return skipped("the settings cannot be read here");
  }
  Diagnosis found;
  std::string open;
  const auto take = [&](const std::string& name) { open += (open.empty() ? "" : ", ") + name; };
  take("access bits");
  if (tiering.perf_event_paranoid) {
    found.show("proc/sys/kernel/perf_event_paranoid",
               fmt::format("{}", *tiering.perf_event_paranoid));
    if (*tiering.perf_event_paranoid <= 2) take("hardware samples of own processes");
  }
  if (tiering.unprivileged_userfaultfd) {
    found.show("proc/sys/vm/unprivileged_userfaultfd",
               *tiering.unprivileged_userfaultfd ? "1" : "0");
    if (*tiering.unprivileged_userfaultfd) take("userfaultfd of kernel faults");
  }
  if (tiering.zone_reclaim_mode.value_or(0) != 0) {
    found.show("proc/sys/vm/zone_reclaim_mode", fmt::format("{}", *tiering.zone_reclaim_mode));
    found.problem(CheckState::warn,
                  "zone_reclaim_mode is set: the kernel reclaims local pages before it "
                  "uses another node");
    found.fix("echo 0 > /proc/sys/vm/zone_reclaim_mode");
    return found;
  }
  found.summary = "open to a plain user: " + open;
  return found;
}

}  // namespace cxltier
