// SPDX-License-Identifier: Apache-2.0
//
// What firmware says: the CXL tables, and whether CXL memory was kept out of the memory map.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

constexpr const char* cedt_file = "sys/firmware/acpi/tables/CEDT";
constexpr const char* enable_fix =
    "enable CXL in firmware set-up (Intel: 'CXL Type 3'; AMD CBS: 'CXL Common Options'), update "
    "the "
    "firmware, and boot cold; a window must exist at boot even for devices that are plugged in "
    "later";

std::string cedt_text(const acpi::Cedt& cedt) {
  std::size_t restricted = 0;
  std::size_t volatiles = 0;
  for (const acpi::HostBridge& bridge : cedt.host_bridges) restricted += bridge.is_restricted();
  for (const acpi::Window& window : cedt.windows) volatiles += window.is_volatile();
  return fmt::format("{} CHBS ({} of CXL 1.1), {} CFMWS ({} volatile), {} CXIMS",
                     cedt.host_bridges.size(), restricted, cedt.windows.size(), volatiles,
                     cedt.xor_maps.size());
}

Diagnosis judge_cedt(const acpi::Cedt& cedt) {
  Diagnosis found = fine(cedt_text(cedt));
  found.show(cedt_file, cedt_text(cedt));
  bool has_volatile = false;
  for (const acpi::Window& window : cedt.windows) has_volatile |= window.is_volatile();
  if (cedt.host_bridges.empty()) {
    found.problem(CheckState::fail, "CEDT describes no CXL host bridge");
    found.reference = "CXL 3.1, 9.18.1.2";
  } else if (cedt.windows.empty()) {
    found.problem(CheckState::fail, "CEDT sets no memory window aside");
    found.reference = "CXL 3.1, 9.18.1.3";
  } else if (!has_volatile) {
    found.problem(CheckState::fail, "no window of CEDT may hold volatile memory");
    found.reference = fmt::format("CXL 3.1, 9.18.1.3; offset {:#x}", cedt.windows[0].offset + 32);
  }
  if (found.state == CheckState::fail) found.fix(enable_fix);
  return found;
}

// Without the table: the kernel made a root decoder of every window.
Diagnosis judge_windows(const Platform& platform, const std::string& why_no_table) {
  std::size_t volatiles = 0;
  Diagnosis found;
  for (const CxlDecoder* window : platform.cxl.windows()) {
    volatiles += window->has_ram;
    found.show(fmt::format("sys/bus/cxl/devices/{}", window->name),
               fmt::format("{:#x} + {}{}", window->start.value_or(0),
                           bytes_text(window->size.value_or(0)), window->has_ram ? ", ram" : ""));
  }
  if (volatiles > 0) {
    found.summary = fmt::format("{} windows for volatile memory ({})", volatiles, why_no_table);
    return found;
  }
  if (platform.cxl.windows().empty() && !platform.cxl_acpi_bound) return skipped(why_no_table);
  found.problem(CheckState::fail, "the kernel found no window for volatile memory");
  found.fix(enable_fix);
  return found;
}

struct PlainRange {
  std::size_t index = 0;  // in iomem
  const MemoryBlock* block = nullptr;
};

// Ranges of a window that are RAM without a dax device above.
std::vector<PlainRange> plain_ram(const Platform& platform) {
  std::vector<PlainRange> found;
  const Iomem& iomem = *platform.iomem;
  for (std::size_t i = 0; i < iomem.ranges.size(); ++i) {
    const IomemRange& range = iomem.ranges[i];
    if (range.name != "System RAM" || iomem.is_below(i, "dax")) continue;
    if (!iomem.is_below(i, "CXL Window") && !is_in_window(platform, range.first)) continue;
    const auto blocks = platform.blocks.within(range.first, range.last - range.first + 1);
    found.push_back({i, blocks.empty() ? nullptr : blocks.front()});
  }
  return found;
}

void report_plain(const Platform& platform, const PlainRange& plain, Diagnosis& found) {
  const Iomem& iomem = *platform.iomem;
  found.show("proc/iomem", fmt::format("{} (in {})", iomem_line(iomem.ranges[plain.index]),
                                       iomem.path_of(plain.index)));
  const bool has_node = plain.block != nullptr && plain.block->node;
  const Node* node =
      has_node ? platform.node(static_cast<std::int64_t>(*plain.block->node)) : nullptr;
  const bool among_cpus = node != nullptr && node->cpu_count > 0;
  found.problem(among_cpus ? CheckState::fail : CheckState::warn,
                fmt::format("CXL memory is ordinary RAM since boot{} and cannot be taken offline",
                            has_node ? fmt::format(", in node {}", *plain.block->node) : ""));
  found.fix(
      "set the CXL Memory Attribute (EFI_MEMORY_SP, 'Specific Purpose Memory') in firmware "
      "set-up, so that the CXL driver gets the memory");
}

}  // namespace

Diagnosis check_firmware(const Platform& platform) {
  if (platform.acpi.cedt) return judge_cedt(*platform.acpi.cedt);
  if (const auto why = needs_root(platform, cedt_file)) return judge_windows(platform, *why);
  // A folder with other tables proves that there is no CEDT; an empty one proves nothing.
  if (platform.acpi.names.empty()) {
    return judge_windows(platform, platform.cxl.source == CxlSource::listing
                                       ? "no tables here; from the output of 'cxl list'"
                                       : "no ACPI tables can be read here");
  }
  Diagnosis found;
  found.problem(CheckState::fail, "firmware publishes no CXL: there is no CEDT table");
  found.show("sys/firmware/acpi/tables", "no CEDT");
  found.show("sys/bus/acpi/devices", platform.acpi_cxl_devices.empty()
                                         ? std::string("no ACPI0016, no ACPI0017")
                                         : fmt::format("{}", platform.acpi_cxl_devices[0]));
  found.reference = "CXL 3.1, 9.18.1";
  found.fix(enable_fix);
  return found;
}

Diagnosis check_tables(const Platform& platform) {
  const AcpiTables& acpi = platform.acpi;
  Diagnosis found;
  std::size_t tables = 0;
  const auto take = [&](const char* name, const acpi::Faults& faults) {
    ++tables;
    for (const acpi::Fault& fault : faults) {
      found.problem(CheckState::warn, fmt::format("{}: {}", name, fault.text));
      found.show(fmt::format("sys/firmware/acpi/tables/{}", name),
                 fmt::format("offset {:#x}: {} ({})", fault.offset, fault.text, fault.section));
    }
    if (!faults.empty() && found.reference.empty()) {
      found.reference = fmt::format("{}; offset {:#x}", faults[0].section, faults[0].offset);
    }
  };
  if (acpi.cedt) take("CEDT", acpi.cedt->faults);
  if (acpi.srat) take("SRAT", acpi.srat->faults);
  if (acpi.slit) take("SLIT", acpi.slit->faults);
  if (acpi.hmat) take("HMAT", acpi.hmat->faults);
  if (tables == 0) {
    return skipped(needs_root(platform, cedt_file).value_or("no ACPI tables can be read here"));
  }
  if (found.state == CheckState::ok) return fine(fmt::format("{} tables read", tables));
  found.fix("report these lines to the maker of the board; a firmware update may mend the tables");
  return found;
}

Diagnosis check_soft_reserve(const Platform& platform) {
  Diagnosis found;
  const std::optional<std::string> efi = platform.kernel.parameter("efi");
  const bool not_reserved = efi && efi->find("nosoftreserve") != std::string::npos;
  if (platform.iomem && !platform.iomem->is_hidden) {
    for (const PlainRange& plain : plain_ram(platform)) report_plain(platform, plain, found);
  } else if (!not_reserved) {
    return skipped(needs_root(platform, "proc/iomem").value_or("no /proc/iomem here"));
  }
  if (not_reserved && platform.has_cxl_trace()) {
    found.problem(CheckState::warn, "the kernel was told to make ordinary RAM of special memory");
    found.show("proc/cmdline", "efi=" + *efi);
    found.fix("remove efi=nosoftreserve from the kernel command line and reboot");
  }
  if (found.state != CheckState::ok) return found;
  if (!platform.has_cxl_trace()) return skipped("no CXL here");
  return fine("no window holds ordinary RAM from the memory map");
}

}  // namespace cxltier
