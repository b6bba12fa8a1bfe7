// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own tiering.  cxltier moves pages without it; what is off here is what programs that
// do not run under cxltier miss.
#include <fmt/format.h>

#include <map>

#include "runtime/doctor/checks.h"
#include "runtime/topology/node_performance.h"

namespace cxltier {
namespace {

constexpr const char* no_node = "no CXL node yet";
constexpr const char* demotion_file = "sys/kernel/mm/numa/demotion_enabled";
constexpr const char* balancing_file = "proc/sys/kernel/numa_balancing";

std::string ids_text(const std::vector<const Node*>& nodes) {
  std::string text;
  for (const Node* node : nodes) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", index_of(node->id));
  }
  return text;
}

std::uint32_t bandwidth_of(const Platform& platform, const Node& node) {
  if (node.performance.read_bandwidth_mbps != 0) return node.performance.read_bandwidth_mbps;
  for (const DaxInstance& dax : platform.dax) {
    if (dax.target_node != static_cast<std::int64_t>(index_of(node.id))) continue;
    const CxlRegion* region = platform.cxl.region(dax.region);
    if (region != nullptr && region->performance.read_bandwidth <= bandwidth_mbps_max) {
      return static_cast<std::uint32_t>(region->performance.read_bandwidth);
    }
  }
  return 0;
}

// Nodes with memory that a program may be given: DRAM and CXL.
std::vector<const Node*> tier_nodes(const Platform& platform) {
  std::vector<const Node*> nodes;
  const Machine& machine = platform.reading->machine;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const Node& node = machine.nodes[i];
    const bool counts = node.kind == NodeKind::dram || node.kind == NodeKind::cxl;
    if (counts && node.size.count > 0) nodes.push_back(&node);
  }
  return nodes;
}

// Commands that set each node's weight by its bandwidth, the slowest node's being 1.
void add_weight_fixes(const Platform& platform, Diagnosis& found) {
  std::uint32_t slowest = 0;
  for (const Node* node : tier_nodes(platform)) {
    const std::uint32_t bandwidth = bandwidth_of(platform, *node);
    if (bandwidth == 0) return;
    if (slowest == 0 || bandwidth < slowest) slowest = bandwidth;
  }
  for (const Node* node : tier_nodes(platform)) {
    const std::uint32_t weight = (bandwidth_of(platform, *node) + slowest / 2) / slowest;
    found.fix(fmt::format("echo {} > /sys/kernel/mm/mempolicy/weighted_interleave/node{}",
                          std::min(weight, 255u), index_of(node->id)));
  }
}

bool has_different_bandwidths(const Platform& platform) {
  std::uint32_t first = 0;
  for (const Node* node : tier_nodes(platform)) {
    const std::uint32_t bandwidth = bandwidth_of(platform, *node);
    if (bandwidth == 0) return false;
    if (first == 0) first = bandwidth;
    const std::uint32_t gap = bandwidth > first ? bandwidth - first : first - bandwidth;
    if (gap > first / 2) return true;
  }
  return false;
}

}  // namespace

Diagnosis check_kernel_tiers(const Platform& platform) {
  const std::vector<const Node*> nodes = cxl_nodes(platform);
  if (nodes.empty()) return skipped(no_node);
  Diagnosis found;
  bool any_known = false;
  for (const Node* cxl : nodes) {
    if (cxl->kernel_tier < 0) continue;
    any_known = true;
    const std::string file =
        fmt::format("sys/devices/virtual/memory_tiering/memory_tier{}/nodelist", cxl->kernel_tier);
    found.show(file, fmt::format("node {}", index_of(cxl->id)));
    for (const Node* other : tier_nodes(platform)) {
      if (other->kind != NodeKind::dram || other->kernel_tier != cxl->kernel_tier) continue;
      found.problem(CheckState::fail,
                    fmt::format("node {} (CXL) is in the same kernel tier as node {} (DRAM): the "
                                "kernel will demote nothing to it",
                                index_of(cxl->id), index_of(other->id)));
      found.fix(
          "the kernel ranks nodes by firmware's HMAT: report wrong values to the maker of the "
          "board; numa=nohmat on the kernel command line ignores them; cxltier ranks nodes itself");
      break;
    }
  }
  if (found.state != CheckState::ok) return found;
  if (!any_known) return skipped("this kernel shows no memory tiers");
  found.summary = fmt::format("node {} lies below DRAM", ids_text(nodes));
  return found;
}

Diagnosis check_demotion(const Platform& platform) {
  if (cxl_nodes(platform).empty()) return skipped(no_node);
  const TieringFacts& tiering = platform.tiering;
  if (!tiering.demotion_enabled) return skipped("this kernel shows no demotion switch");
  Diagnosis found;
  found.show(demotion_file, *tiering.demotion_enabled ? "true" : "false");
  if (!*tiering.demotion_enabled) {
    found.problem(CheckState::warn,
                  "the kernel's demotion is off: without cxltier, cold pages stay in "
                  "DRAM until they are swapped out");
    found.fix(fmt::format("echo 1 > /{}", demotion_file));
    return found;
  }
  found.summary = "on";
  return found;
}

Diagnosis check_balancing(const Platform& platform) {
  if (cxl_nodes(platform).empty()) return skipped(no_node);
  const std::optional<std::uint64_t> mode = platform.tiering.numa_balancing;
  if (!mode) return skipped("this kernel has no NUMA balancing");
  Diagnosis found;
  found.show(balancing_file, fmt::format("{}", *mode));
  if ((*mode & 2) != 0) {
    found.summary = "memory tiering mode is on";
    return found;
  }
  found.problem(CheckState::warn,
                *mode == 0 ? "NUMA balancing is off: without cxltier, hot pages stay in CXL memory"
                           : "NUMA balancing is on without its memory tiering mode (2): without "
                             "cxltier, pages are promoted without a limit");
  found.fix(fmt::format("echo 2 > /{}", balancing_file));
  return found;
}

Diagnosis check_weights(const Platform& platform) {
  if (cxl_nodes(platform).empty()) return skipped(no_node);
  const TieringFacts& tiering = platform.tiering;
  if (tiering.weights.empty())
    return skipped("this kernel has no weighted interleave (6.9 or later)");
  Diagnosis found;
  std::string weights;
  bool all_one = true;
  for (const auto& [node, weight] : tiering.weights) {
    weights += fmt::format("{}node{} {}", weights.empty() ? "" : ", ", node, weight);
    all_one = all_one && weight == 1;
  }
  found.show("sys/kernel/mm/mempolicy/weighted_interleave", weights);
  if (tiering.weights_auto) {
    found.show("sys/kernel/mm/mempolicy/weighted_interleave/auto",
               *tiering.weights_auto ? "true" : "false");
  }
  found.summary = weights;
  if (!all_one || tiering.weights_auto == true) return found;
  if (has_different_bandwidths(platform)) {
    found.problem(CheckState::warn,
                  "all interleave weights are 1, though the nodes' bandwidths differ");
    add_weight_fixes(platform, found);
  } else {
    found.problem(CheckState::warn,
                  "all interleave weights are 1, and firmware gives no bandwidth to "
                  "set them by");
    found.fix(
        "measure with: cxltier bench tier; then write each node's share to "
        "/sys/kernel/mm/mempolicy/weighted_interleave/nodeN");
  }
  return found;
}

Diagnosis check_zone(const Platform& platform) {
  const std::vector<const Node*> nodes = cxl_nodes(platform);
  if (nodes.empty()) return skipped(no_node);
  const TieringFacts& tiering = platform.tiering;
  Diagnosis found;
  for (const Node* node : nodes) {
    const std::uint64_t id = index_of(node->id);
    const auto zones = tiering.zones.find(id);
    const bool is_normal =
        zones != tiering.zones.end() &&
        std::find(zones->second.begin(), zones->second.end(), "Normal") != zones->second.end();
    if (!is_normal) continue;
    const auto use = tiering.use.find(id);
    const std::uint64_t pinned =
        use == tiering.use.end() ? 0 : use->second.slab + use->second.page_tables;
    found.problem(
        CheckState::warn,
        fmt::format("node {} is in zone Normal: the kernel may put its own data there ({} "
                    "now), which is slow and cannot be taken offline",
                    id, bytes_text(pinned)));
    found.show("proc/zoneinfo", fmt::format("Node {}, zone Normal", id));
    if (use != tiering.use.end()) {
      found.show(fmt::format("sys/devices/system/node/node{}/meminfo", id),
                 fmt::format("Slab {}, PageTables {}", bytes_text(use->second.slab),
                             bytes_text(use->second.page_tables)));
    }
  }
  if (found.state != CheckState::ok) {
    found.fix(
        "memhp_default_state=online_movable on the kernel command line, then reboot; or now: "
        "cxltier provision --undo, then cxltier provision (it onlines as movable)");
    return found;
  }
  if (tiering.zones.empty()) return skipped("no /proc/zoneinfo here");
  return fine("zone Movable");
}

Diagnosis check_qos(const Platform& platform) {
  Diagnosis found;
  std::size_t known = 0;
  for (const CxlMemdev& memory : platform.cxl.memories) {
    const CxlRegion* region = platform.cxl.region_of(memory.name);
    const CxlDecoder* window = region == nullptr ? nullptr : platform.cxl.decoder(region->window);
    const bool both = window != nullptr && window->qos_class && memory.ram_qos;
    known += both || memory.qos_mismatch.has_value();
    if (memory.qos_mismatch != true && !(both && *window->qos_class != *memory.ram_qos)) continue;
    found.problem(CheckState::warn,
                  fmt::format("{} is in a window that firmware means for other devices (QoS class)",
                              memory.name));
    if (both) {
      found.show(fmt::format("sys/bus/cxl/devices/{}/ram/qos_class", memory.name),
                 fmt::format("{}", *memory.ram_qos));
      found.show(fmt::format("sys/bus/cxl/devices/{}/qos_class", window->name),
                 fmt::format("{}", *window->qos_class));
    }
    found.fix("make the region in the window whose qos_class is the device's");
  }
  if (found.state != CheckState::ok) return found;
  if (known == 0) return skipped("no QoS class is known (it needs HMAT or a generic port)");
  return fine("as firmware means it");
}

}  // namespace cxltier
