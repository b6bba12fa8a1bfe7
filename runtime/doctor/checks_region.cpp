// SPDX-License-Identifier: Apache-2.0
//
// Regions: what turns a device's memory into addresses.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

// A window for volatile memory that lies above the device, the emptiest first.
const CxlDecoder* window_for(const CxlBus& bus, const CxlMemdev& memory) {
  const CxlDecoder* best = nullptr;
  for (const CxlDecoder* window : bus.windows()) {
    if (!window->has_ram || !bus.is_below(memory, *window)) continue;
    if (best == nullptr || bus.free_of(*window).value_or(0) > bus.free_of(*best).value_or(0)) {
      best = window;
    }
  }
  return best;
}

// Firmware or hmem may own the memory: then the device needs no region of ours.
bool is_claimed(const Platform& platform, const CxlMemdev& memory) {
  const CxlPort* endpoint = platform.cxl.endpoint_of(memory.name);
  if (endpoint != nullptr && endpoint->decoders_committed.value_or(0) > 0) return true;
  for (const DaxInstance& dax : platform.dax) {
    if (dax.origin == DaxOrigin::hmem && dax.start && is_in_window(platform, *dax.start))
      return true;
  }
  return false;
}

void judge_idle(const Platform& platform, const CxlMemdev& memory, Diagnosis& found) {
  const CxlBus& bus = platform.cxl;
  found.problem(CheckState::fail,
                fmt::format("{} ({}, {}) is enabled, but no region uses it", memory.name,
                            memory.host, bytes_text(memory.ram_size)));
  if (const CxlPort* endpoint = bus.endpoint_of(memory.name); endpoint != nullptr) {
    found.show(fmt::format("sys/bus/cxl/devices/{}/decoders_committed", endpoint->name),
               endpoint->decoders_committed ? fmt::format("{}", *endpoint->decoders_committed)
                                            : std::string("missing"));
  }
  const CxlDecoder* window = window_for(bus, memory);
  if (window == nullptr) {
    found.fix("no window for volatile memory lies above this device: see the check firmware-cxl");
    return;
  }
  const std::optional<std::uint64_t> room = bus.free_of(*window);
  found.show(fmt::format("sys/bus/cxl/devices/{}/size", window->name),
             room ? fmt::format("{} of {} free", bytes_text(*room), bytes_text(*window->size))
                  : std::string("not known"));
  if (room && *room < memory.ram_size) {
    found.problem(CheckState::fail, fmt::format("{} is too small for it", window->name));
    found.fix("give the window more room in firmware set-up (in QEMU: cxl-fmw.N.size)");
    return;
  }
  found.fix("cxltier provision");
  found.fix(
      fmt::format("or by hand: cxl create-region -t ram -d {} -m {}", window->name, memory.name));
}

void judge_iomem(const Platform& platform, Diagnosis& found) {
  const Iomem& iomem = *platform.iomem;
  for (std::size_t i = 0; i < iomem.ranges.size(); ++i) {
    const IomemRange& range = iomem.ranges[i];
    if (!range.name.starts_with("dax") || iomem.is_below(i, "region")) continue;
    const bool reserved = iomem.is_below(i, "Soft Reserved") || range.name == "Soft Reserved";
    const bool in_window = iomem.is_below(i, "CXL Window") || is_in_window(platform, range.first);
    if (!reserved || !in_window) continue;
    found.problem(
        CheckState::fail,
        fmt::format("hmem owns {}: the CXL driver assembled no region for it", range.name));
    found.show("proc/iomem", iomem_line(range) + " (in " + iomem.path_of(i) + ")");
  }
}

// A region that ends before the range that firmware reserved for it.
void judge_short_regions(const Platform& platform, Diagnosis& found) {
  const Iomem& iomem = *platform.iomem;
  for (std::size_t i = 0; i < iomem.ranges.size(); ++i) {
    const IomemRange& region = iomem.ranges[i];
    if (!region.name.starts_with("region")) continue;
    for (std::size_t j = 0; j < iomem.ranges.size(); ++j) {
      const IomemRange& dax = iomem.ranges[j];
      if (!dax.name.starts_with("dax") || dax.first < region.first || dax.first > region.last ||
          dax.last <= region.last) {
        continue;
      }
      found.problem(CheckState::fail, fmt::format("{} is {} shorter than its {}", region.name,
                                                  bytes_text(dax.last - region.last), dax.name));
      found.show("proc/iomem", iomem_line(region));
      found.show("proc/iomem", iomem_line(dax));
    }
  }
}

void judge_states(const CxlBus& bus, Diagnosis& found) {
  for (const CxlRegion& region : bus.regions) {
    if (region.is_committed && region.has_driver) continue;
    if (!region.is_committed) {
      found.problem(CheckState::fail, fmt::format("{} is not committed", region.name));
      found.show(fmt::format("sys/bus/cxl/devices/{}/commit", region.name), "0");
    } else if (region.mode != "pmem") {
      found.problem(CheckState::fail, fmt::format("{} has no driver", region.name));
      found.show(fmt::format("sys/bus/cxl/devices/{}/driver", region.name), "missing");
    }
    found.fix(
        fmt::format("cxl enable-region {} (or: cxl destroy-region -f {}, then cxltier provision)",
                    region.name, region.name));
  }
  for (const CxlDecoder& decoder : bus.decoders) {
    const CxlPort* port = bus.port(decoder.parent);
    const bool is_set = decoder.is_locked && decoder.size.value_or(0) > 0 && decoder.region.empty();
    if (port == nullptr || !port->is_endpoint() || !is_set) continue;
    found.problem(CheckState::fail,
                  fmt::format("{} is locked by firmware and in no region", decoder.name));
    found.show(fmt::format("sys/bus/cxl/devices/{}/locked", decoder.name), "1");
  }
}

}  // namespace

Diagnosis check_region(const Platform& platform) {
  Diagnosis found;
  std::size_t used = 0;
  for (const CxlMemdev& memory : platform.cxl.memories) {
    if (!memory.is_enabled || memory.ram_size == 0) continue;
    if (platform.cxl.region_of(memory.name) != nullptr || is_claimed(platform, memory)) {
      ++used;
      continue;
    }
    // A plain `cxl list` names no targets: as many regions as devices is the best that it tells.
    if (platform.cxl.source == CxlSource::listing && used < platform.cxl.regions.size()) {
      ++used;
      continue;
    }
    judge_idle(platform, memory, found);
  }
  if (found.state != CheckState::ok) return found;
  if (platform.cxl.memories.empty()) return skipped("no CXL memory device");
  if (used == 0) return skipped("no enabled device with volatile memory");
  for (const CxlRegion& region : platform.cxl.regions) {
    found.show("sys/bus/cxl/devices/" + region.name,
               fmt::format("{:#x} + {}, {} of {} ways by {}", region.start.value_or(0),
                           bytes_text(region.size), region.memories.size(), region.ways,
                           region.granularity));
  }
  found.summary = fmt::format("{} device{} in use", used, used == 1 ? "" : "s");
  return found;
}

Diagnosis check_assembly(const Platform& platform) {
  Diagnosis found;
  if (platform.cxl.source == CxlSource::sysfs) judge_states(platform.cxl, found);
  const bool has_iomem = platform.iomem && !platform.iomem->is_hidden;
  if (has_iomem) {
    judge_iomem(platform, found);
    judge_short_regions(platform, found);
  }
  for (const DaxInstance& dax : platform.dax) {
    if (dax.origin != DaxOrigin::hmem || !platform.cxl.memories.empty()) continue;
    found.problem(
        CheckState::warn,
        fmt::format("{} is special-purpose memory through hmem; if it is CXL memory, the CXL "
                    "driver does not know it",
                    dax.name));
    found.show("sys/bus/dax/devices/" + dax.name, dax.path);
  }
  if (found.state != CheckState::ok) {
    found.fix(
        "use Linux 7.2 or later, whose CXL driver takes such ranges over; or use it as it is: "
        "it works as memory, but its errors cannot be mapped to a device");
    return found;
  }
  if (platform.cxl.regions.empty()) return skipped("no region");
  if (!has_iomem) {
    found.summary = "regions are committed; " +
                    needs_root(platform, "proc/iomem").value_or("no /proc/iomem here");
    return found;
  }
  return fine("every region is committed and has its driver");
}

Diagnosis check_interleave(const Platform& platform) {
  const CxlBus& bus = platform.cxl;
  if (bus.regions.empty()) return skipped("no region");
  Diagnosis found;
  for (const CxlDecoder* window : bus.windows()) {
    std::size_t members = 0;
    std::uint64_t widest = 0;
    for (const CxlRegion& region : bus.regions) {
      if (region.window != window->name || region.mode == "pmem") continue;
      members += region.memories.size();
      widest = std::max(widest, region.ways);
    }
    if (members < 2 || widest > 1) continue;
    found.problem(CheckState::warn,
                  fmt::format("{} devices lie in {}, each in a region of its own: a page gets the "
                              "bandwidth of one of them",
                              members, window->name));
    found.show("sys/bus/cxl/devices/" + window->name, fmt::format("{} regions of 1 way", members));
    found.fix(
        "cxltier provision --undo, then cxltier provision: it interleaves what can be "
        "interleaved");
  }
  if (found.state == CheckState::ok) found.summary = "nothing is left to interleave";
  return found;
}

}  // namespace cxltier
