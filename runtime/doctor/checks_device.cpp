// SPDX-License-Identifier: Apache-2.0
//
// The devices themselves: do they answer, do they decode memory, are they well.
#include <fmt/format.h>

#include <map>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

std::string config_file(const PciFunction& function) {
  return fmt::format("sys/bus/pci/devices/{}/config", function.address);
}

bool is_link_dead(const PciFunction& function) {
  return !function.is_integrated() && function.maximum.is_known() && !function.current.is_known();
}

void judge_registers(const PciFunction& function, Diagnosis& found) {
  const CxlDvsec& cxl = *function.config->cxl;
  const std::string where = fmt::format("offset {:#x}", cxl.offset + 0xc);
  found.show(config_file(function),
             fmt::format("{}: CXLCtl {:#06x}, CXLCap {:#06x}, range 1 {}", where, cxl.control,
                         cxl.capability, bytes_text(cxl.range_size)));
  if (!cxl.can_mem()) {
    found.problem(CheckState::warn, fmt::format("{} has no CXL.mem", function.address));
    return;
  }
  if (!cxl.is_mem_enabled()) {
    found.problem(CheckState::fail, fmt::format("{}: CXL.mem is disabled by firmware (CXLCtl Mem-)",
                                                function.address));
    found.reference = fmt::format("CXL 3.1, 8.1.3.2; {}", where);
    found.fix(
        "reseat the card or try another slot; check the slot's bifurcation; update the "
        "firmware of device and board; then boot cold");
  } else if (cxl.range_valid && !cxl.range_active) {
    found.problem(CheckState::fail,
                  fmt::format("{}: memory of range 1 is not active yet", function.address));
    found.reference = fmt::format("CXL 3.1, 8.1.3.8; offset {:#x}", cxl.offset + 0x1c);
    found.fix("the device did not finish its start-up: update its firmware and boot cold");
  }
}

void judge_function(const PciFunction& function, Diagnosis& found) {
  if (is_link_dead(function)) {
    found.problem(CheckState::fail, fmt::format("{}: its link is down", function.address));
    found.show(fmt::format("sys/bus/pci/devices/{}/current_link_width", function.address),
               fmt::format("{}", function.current.width));
    found.fix("reseat the card, try another slot, check riser, retimer and bifurcation");
  }
  if (function.config && function.config->cxl) return judge_registers(function, found);
  if (function.config && function.config->is_extended) {
    found.show(config_file(function), "no DVSEC 1e98:0: whether CXL.mem is on is not known");
  }
}

void judge_memdev(const CxlMemdev& memory, Diagnosis& found) {
  if (memory.is_enabled) return;
  found.problem(CheckState::fail,
                fmt::format("{} ({}) is disabled: it has no driver", memory.name, memory.host));
  found.show(fmt::format("sys/bus/cxl/devices/{}/driver", memory.name), "missing");
  found.fix(fmt::format("cxl enable-memdev {}", memory.name));
  found.fix("read the kernel log for what the cxl_mem driver said of it: dmesg | grep -i cxl");
}

std::string serial_text(std::uint64_t serial) { return fmt::format("{:#x}", serial); }

void judge_health(const CxlMemdev& memory, Diagnosis& found) {
  const CxlHealth& health = *memory.health;
  const std::string file = "cxl list -H -m " + memory.name;
  const auto bad = [&](const std::string& text, CheckState state) {
    found.problem(state, fmt::format("{}: {}", memory.name, text));
    found.show(file, text);
  };
  if (health.media_normal == false) bad("media is not normal", CheckState::fail);
  if (health.replacement_needed == true) bad("hardware replacement is needed", CheckState::fail);
  if (health.maintenance_needed == true) bad("maintenance is needed", CheckState::warn);
  if (health.performance_degraded == true) bad("performance is degraded", CheckState::fail);
  if (health.life_used.value_or(0) >= 90) {
    bad(fmt::format("{} % of its life is used", *health.life_used), CheckState::warn);
  }
  if (health.dirty_shutdowns.value_or(0) > 0 && memory.pmem_size > 0) {
    bad(fmt::format("{} dirty shutdowns", *health.dirty_shutdowns), CheckState::warn);
  }
}

}  // namespace

Diagnosis check_device(const Platform& platform) {
  Diagnosis found;
  std::size_t devices = 0;
  for (const PciFunction& function : platform.pci.functions) {
    if (!function.is_cxl_memory()) continue;
    ++devices;
    judge_function(function, found);
  }
  for (const CxlMemdev& memory : platform.cxl.memories) judge_memdev(memory, found);
  devices = std::max(devices, platform.cxl.memories.size());
  if (found.state != CheckState::ok) return found;
  if (devices > 0) {
    found.summary = fmt::format("{} CXL memory device{}", devices, devices == 1 ? "" : "s");
    return found;
  }
  if (!platform.has_cxl_trace()) return skipped("no CXL device on the PCI bus");
  if (platform.pci.functions.empty()) return skipped("no PCI devices can be read here");
  found.problem(CheckState::fail, "firmware publishes CXL, but no CXL device is on the PCI bus");
  found.show("sys/bus/pci/devices", fmt::format("{} functions, none of class 0502 or with DVSEC "
                                                "1e98:0",
                                                platform.pci.functions.size()));
  found.fix(
      "reseat the card, try another slot, check that the slot is in CXL mode and bifurcated "
      "for the card; then boot cold");
  return found;
}

Diagnosis check_serials(const Platform& platform) {
  std::map<std::uint64_t, std::vector<std::string>> names;
  for (const CxlMemdev& memory : platform.cxl.memories) {
    if (memory.serial) names[*memory.serial].push_back(memory.name);
  }
  if (names.empty()) return skipped("no CXL memory device");
  Diagnosis found;
  for (const auto& [serial, devices] : names) {
    if (devices.size() < 2) continue;
    found.problem(CheckState::warn, fmt::format("serial numbers are not unique: {} have {}",
                                                fmt::join(devices, ", "), serial_text(serial)));
    found.show(fmt::format("sys/bus/cxl/devices/{}/serial", devices[0]), serial_text(serial));
    found.fix("tell these devices apart by PCI address; in QEMU give each cxl-type3 its own sn=");
  }
  if (found.state == CheckState::ok) found.summary = fmt::format("{} different", names.size());
  return found;
}

Diagnosis check_health(const Platform& platform) {
  Diagnosis found;
  std::size_t known = 0;
  for (const CxlMemdev& memory : platform.cxl.memories) {
    if (memory.health) {
      ++known;
      judge_health(memory, found);
    }
    if (memory.poison_records.value_or(0) > 0) {
      found.problem(CheckState::warn,
                    fmt::format("{}: {} poisoned ranges", memory.name, *memory.poison_records));
      found.show("cxl list -L -m " + memory.name, fmt::format("{}", *memory.poison_records));
      found.fix("take the pages out of use: soft-offline them, or replace the device");
    }
    if (!memory.firmware_staged.empty() && memory.firmware_staged != memory.firmware) {
      found.problem(CheckState::warn,
                    fmt::format("{}: firmware waits to be activated", memory.name));
      found.show("cxl list -F -m " + memory.name, memory.firmware_staged);
      found.fix("boot cold to activate the staged firmware");
    }
  }
  if (found.state != CheckState::ok) {
    if (found.fixes.empty()) found.fix("have the device replaced; move its memory off before that");
    return found;
  }
  if (platform.cxl.memories.empty()) return skipped("no CXL memory device");
  if (known == 0) return skipped("health is in no file: run 'cxl list -H' as root");
  return fine(fmt::format("{} devices report normal health", known));
}

}  // namespace cxltier
