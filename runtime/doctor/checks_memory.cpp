// SPDX-License-Identifier: Apache-2.0
//
// From a dax device to memory that programs get: online, and in a node of its own.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

struct BlockCount {
  std::uint64_t online = 0;
  std::uint64_t total = 0;
  std::string first_offline;  // "memory114"
};

std::optional<std::uint64_t> start_of(const Platform& platform, const DaxInstance& dax) {
  if (dax.start) return dax.start;
  for (const CxlRegion& region : platform.cxl.regions) {
    const bool same_number = !dax.region.empty() && region.name == dax.region;
    const bool only_one = dax.region.empty() && region.size == dax.size;
    if (same_number || only_one) return region.start;
  }
  return std::nullopt;
}

BlockCount count_blocks(const Platform& platform, const DaxInstance& dax) {
  if (platform.blocks.blocks.empty()) {
    return {dax.blocks_online.value_or(0), dax.blocks_total.value_or(0), {}};
  }
  BlockCount count;
  const std::optional<std::uint64_t> start = start_of(platform, dax);
  if (!start) return count;
  for (const MemoryBlock* block : platform.blocks.within(*start, dax.size)) {
    ++count.total;
    count.online += block->is_online;
    if (!block->is_online && count.first_offline.empty()) {
      count.first_offline = fmt::format("memory{}", block->index);
    }
  }
  return count;
}

// Why a dax device's memory would join a node that is not its own; empty if it has one.
std::string wrong_node(const Platform& platform, const DaxInstance& dax) {
  if (!dax.target_node) return {};
  if (*dax.target_node < 0) return fmt::format("{} has no node (target_node -1)", dax.name);
  const Node* node = platform.node(*dax.target_node);
  if (node == nullptr || node->cpu_count == 0) return {};
  return fmt::format("{} joins node {}, which has CPUs", dax.name, *dax.target_node);
}

void judge_blocks(const Platform& platform, const DaxInstance& dax, Diagnosis& found) {
  const std::string folder = "sys/bus/dax/devices/" + dax.name;
  const bool stays_off = !wrong_node(platform, dax).empty();
  if (dax.driver == "device_dax") {
    found.problem(CheckState::fail, fmt::format("{} ({}) is a device file, not system RAM",
                                                dax.name, bytes_text(dax.size)));
    found.show(folder + "/driver", "device_dax");
    if (!stays_off)
      found.fix(fmt::format("daxctl reconfigure-device --mode=system-ram {}", dax.name));
    return;
  }
  if (!dax.is_system_ram()) return;
  const BlockCount count = count_blocks(platform, dax);
  if (count.total == 0 && count.online == 0) return;
  // The kernel keeps a few blocks for itself where their own page structures lie in them.
  const bool mostly = count.online * 50 >= count.total * 49;
  if (count.online == count.total || mostly) {
    found.show(folder, fmt::format("{} of {} blocks online", count.online, count.total));
    return;
  }
  const std::string text =
      fmt::format("{}: {} of {} blocks are online", dax.name, count.online, count.total);
  if (stays_off) {
    if (found.state == CheckState::ok) {
      found = skipped(text + ", and should stay so: see the check 'node'");
    }
    return;
  }
  found.problem(CheckState::fail, text);
  found.fix(fmt::format("daxctl online-memory {}", dax.name));
  found.fix("for every boot: memhp_default_state=online_movable on the kernel command line");
  found.show(count.first_offline.empty()
                 ? std::string("daxctl list")
                 : fmt::format("sys/devices/system/memory/{}/state", count.first_offline),
             "offline");
}

bool srat_is_missing(const Platform& platform) {
  return platform.acpi.folder_exists && !platform.acpi.names.empty() &&
         !platform.acpi.names.contains("SRAT") && !platform.acpi.srat;
}

// SRAT entries of memory in the window that are more than room for hot-plug.
bool is_described(const acpi::Srat& srat, std::uint64_t base, std::uint64_t size) {
  for (const acpi::MemoryAffinity& memory : srat.memory) {
    if (memory.base < base + size && base < memory.base + memory.size) return true;
  }
  return false;
}

void explain_node(const Platform& platform, Diagnosis& found) {
  if (srat_is_missing(platform)) {
    found.show("sys/firmware/acpi/tables/SRAT", "missing: the kernel sees one node");
    found.reference = "ACPI 6.5, 5.2.16";
  } else if (platform.acpi.srat && platform.acpi.cedt) {
    for (const acpi::Window& window : platform.acpi.cedt->windows) {
      if (is_described(*platform.acpi.srat, window.base, window.size)) continue;
      found.show(
          "sys/firmware/acpi/tables/SRAT",
          fmt::format("no entry for the window {:#x} + {}", window.base, bytes_text(window.size)));
    }
    found.reference = "ACPI 6.5, 5.2.16.2";
  }
  for (const char* sign : {"Unknown target node for memory", "No NUMA configuration found"}) {
    if (const std::string line = platform.kernel.log_line(sign); !line.empty()) {
      found.show("kernel log", line);
    }
  }
  for (const char* word : {"numa=off", "numa=fake"}) {
    for (const std::string& parameter : platform.kernel.command_line) {
      if (!parameter.starts_with(word)) continue;
      found.show("proc/cmdline", parameter);
      found.fix(fmt::format("remove {} from the kernel command line", parameter));
    }
  }
  found.fix(
      "do not bring this memory online; firmware must describe each CXL window in SRAT with a "
      "proximity domain of its own: report this to the maker of the board");
  found.fix("in QEMU: give -numa nodes, or -m N,maxmem=M,slots=S");
}

}  // namespace

Diagnosis check_blocks(const Platform& platform) {
  const std::vector<const DaxInstance*> list = cxl_dax(platform);
  Diagnosis found;
  for (const DaxInstance* dax : list) judge_blocks(platform, *dax, found);
  // Special-purpose memory outside a window may be CXL memory of a CXL 1.1 device.
  for (const DaxInstance& dax : platform.dax) {
    if (dax.origin == DaxOrigin::hmem && !(dax.start && is_in_window(platform, *dax.start))) {
      judge_blocks(platform, dax, found);
    }
  }
  if (found.state == CheckState::fail && platform.blocks.auto_online == "offline") {
    found.show("sys/devices/system/memory/auto_online_blocks", "offline");
  }
  if (found.state != CheckState::ok) return found;
  if (list.empty()) return skipped("no dax device of CXL memory");
  if (found.evidence.empty()) return skipped("memory blocks cannot be read here");
  return fine(found.evidence.front().value);
}

Diagnosis check_node(const Platform& platform) {
  Diagnosis found;
  const std::vector<const DaxInstance*> list = cxl_dax(platform);
  for (const DaxInstance* dax : list) {
    const std::string wrong = wrong_node(platform, *dax);
    if (wrong.empty()) {
      if (dax->target_node) {
        found.show("sys/bus/dax/devices/" + dax->name + "/target_node",
                   fmt::format("{}", *dax->target_node));
      }
      continue;
    }
    found.problem(CheckState::fail, wrong);
    found.show("sys/bus/dax/devices/" + dax->name + "/target_node",
               fmt::format("{}", *dax->target_node));
  }
  const bool would_join = list.empty() && srat_is_missing(platform) && platform.has_cxl_trace();
  if (would_join) {
    found.problem(CheckState::fail, "there is no SRAT: CXL memory would join node 0");
  }
  if (found.state == CheckState::fail) {
    explain_node(platform, found);
    return found;
  }
  if (list.empty()) return skipped("no dax device of CXL memory");
  if (found.evidence.empty()) return skipped("no target node can be read here");
  found.summary = fmt::format("node {}", found.evidence.front().value);
  return found;
}

Diagnosis check_distances(const Platform& platform) {
  if (!platform.reading) return skipped("no nodes can be read here");
  const Machine& machine = platform.reading->machine;
  if (machine.node_count < 2) return skipped("one node");
  Diagnosis found;
  bool all_local = true;
  bool any_known = false;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    for (std::size_t j = 0; j < machine.node_count; ++j) {
      const unsigned distance = machine.distance[i][j];
      if (i == j || distance == 0) continue;
      any_known = true;
      all_local = all_local && distance == 10;
      if (distance != acpi::distance_unreachable || machine.nodes[i].cpu_count == 0) continue;
      found.problem(CheckState::fail,
                    fmt::format("node {} is unreachable from node {}, which has CPUs",
                                index_of(machine.nodes[j].id), index_of(machine.nodes[i].id)));
      found.show(
          fmt::format("sys/devices/system/node/node{}/distance", index_of(machine.nodes[i].id)),
          "255");
      found.reference = "ACPI 6.5, 5.2.17";
    }
  }
  if (any_known && all_local) {
    found.problem(CheckState::warn, "all nodes are at distance 10: firmware's SLIT says nothing");
    found.show("sys/devices/system/node/node0/distance", "10 everywhere");
    found.reference = "ACPI 6.5, 5.2.17";
  }
  if (found.state == CheckState::ok) {
    return any_known ? fine("plausible") : skipped("no distances can be read here");
  }
  found.fix("report this to the maker of the board; cxltier measures latency itself");
  return found;
}

Diagnosis check_block_size(const Platform& platform) {
  const std::uint64_t block = platform.blocks.size;
  if (block == 0) return skipped("the size of a memory block cannot be read here");
  Diagnosis found;
  for (const DaxInstance* dax : cxl_dax(platform)) {
    const std::uint64_t lost = dax->size % block;
    if (dax->size == 0 || lost == 0) continue;
    found.problem(dax->size < block ? CheckState::fail : CheckState::warn,
                  fmt::format("{} of {}'s {} lie in no whole block of {}", bytes_text(lost),
                              dax->name, bytes_text(dax->size), bytes_text(block)));
    found.show("sys/devices/system/memory/block_size_bytes", fmt::format("{:#x}", block));
    found.fix("use devices or regions that are a multiple of the block size");
  }
  if (found.state == CheckState::ok) found.summary = bytes_text(block);
  return found;
}

}  // namespace cxltier
