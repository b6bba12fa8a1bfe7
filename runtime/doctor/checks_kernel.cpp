// SPDX-License-Identifier: Apache-2.0
//
// The kernel: old enough to have faults, options left out, modules not loaded; and hypervisors.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

constexpr KernelVersion version_min{6, 3};  // the first that makes RAM regions and takes them over

struct Option {
  const char* name;
  const char* module;  // what must be loaded where it is built as a module; null: nothing
  const char* purpose;
};

constexpr Option options[] = {
    {"CONFIG_CXL_BUS", "cxl_core", "the CXL bus"},
    {"CONFIG_CXL_ACPI", "cxl_acpi", "windows and host bridges"},
    {"CONFIG_CXL_PCI", "cxl_pci", "CXL devices"},
    {"CONFIG_CXL_MEM", "cxl_mem", "memory devices"},
    {"CONFIG_CXL_PORT", "cxl_port", "ports and switches"},
    {"CONFIG_CXL_REGION", nullptr, "regions"},
    {"CONFIG_DEV_DAX_CXL", "dax_cxl", "dax devices of CXL regions"},
    {"CONFIG_DEV_DAX_KMEM", "kmem", "dax memory as system RAM"},
    {"CONFIG_MEMORY_HOTPLUG", nullptr, "memory that comes after boot"},
    {"CONFIG_ACPI_NUMA", nullptr, "nodes"},
    {"CONFIG_MIGRATION", nullptr, "moving pages"},
};

void judge_options(const Platform& platform, Diagnosis& found) {
  const KernelFacts& kernel = platform.kernel;
  if (kernel.config.empty()) return;
  std::size_t missing = 0;
  for (const Option& option : options) {
    if (kernel.config.contains(option.name)) continue;
    ++missing;
    found.problem(CheckState::fail,
                  fmt::format("the kernel is built without {} ({})", option.name, option.purpose));
    found.show(kernel.config_path, fmt::format("{} is not set", option.name));
    found.fix(fmt::format("use a kernel with {}=y or =m", option.name));
  }
  if (missing == 0) found.show(kernel.config_path, "all options of CXL memory are set");
}

void missing_module(const char* module, std::string why, const std::string& file,
                    Diagnosis& found) {
  found.problem(CheckState::fail, fmt::format("{}: module {} is not loaded", why, module));
  found.show(file, "missing");
  found.fix(fmt::format("modprobe {}", module));
}

// What hangs in the air shows which driver is missing, without a look at the list of modules.
void judge_drivers(const Platform& platform, Diagnosis& found) {
  if (!platform.acpi_cxl_devices.empty() && !platform.cxl_acpi_bound &&
      platform.cxl.windows().empty()) {
    missing_module("cxl_acpi", "the CXL root has no driver",
                   "sys/bus/platform/devices/ACPI0017:00/driver", found);
  }
  // The output of lspci says nothing of drivers.
  const bool shows_drivers =
      platform.cxl.source == CxlSource::sysfs || !platform.kernel.release.empty();
  for (const PciFunction& function : platform.pci.functions) {
    if (!shows_drivers) break;
    if (!function.has_cxl_class() || !function.driver.empty() || !function.memdevs.empty())
      continue;
    missing_module("cxl_pci", function.address + " has no driver",
                   fmt::format("sys/bus/pci/devices/{}/driver", function.address), found);
  }
  for (const CxlRegion& region : platform.cxl.regions) {
    if (platform.cxl.source != CxlSource::sysfs || region.mode != "ram" || !region.is_committed)
      continue;
    if (region.has_driver && platform.dax_of_region(region.name).empty()) {
      missing_module("dax_cxl", region.name + " has no dax device",
                     fmt::format("sys/bus/cxl/devices/{}/dax_{}", region.name, region.name), found);
    }
  }
  for (const DaxInstance* dax : cxl_dax(platform)) {
    if (!dax->driver.empty()) continue;
    missing_module("kmem", dax->name + " has no driver",
                   fmt::format("sys/bus/dax/devices/{}/driver", dax->name), found);
  }
}

void judge_log(const KernelFacts& kernel, Diagnosis& found) {
  for (const char* sign : {"not a cxl_port device", "add_dev() failed"}) {
    const std::string line = kernel.log_line(sign);
    if (line.empty()) continue;
    found.problem(CheckState::fail, "the CXL driver failed while it looked at a port");
    found.show("kernel log", line);
    found.fix("use a newer kernel: 6.12 or later knows this device's registers");
    return;
  }
}

bool is_committed(const Platform& platform) {
  for (const CxlRegion& region : platform.cxl.regions) {
    if (region.is_committed) return true;
  }
  return false;
}

}  // namespace

Diagnosis check_kernel(const Platform& platform) {
  const KernelFacts& kernel = platform.kernel;
  Diagnosis found;
  if (kernel.version && *kernel.version < version_min) {
    found.problem(CheckState::fail,
                  fmt::format("Linux {}.{} is older than 6.3, the first with CXL RAM regions",
                              kernel.version->major, kernel.version->minor));
    found.show("proc/sys/kernel/osrelease", kernel.release);
    found.fix("boot a kernel of 6.3 or later; 6.12 is a good choice");
  }
  judge_options(platform, found);
  judge_drivers(platform, found);
  judge_log(kernel, found);
  if (found.state != CheckState::ok) return found;
  if (kernel.release.empty() && kernel.config.empty() && platform.cxl.source == CxlSource::none) {
    return skipped("the kernel's version cannot be read here");
  }
  found.summary = kernel.release.empty() ? "the drivers are at work" : "Linux " + kernel.release;
  if (kernel.config.empty() && platform.cxl.regions.empty()) {
    found.summary += "; its configuration cannot be read, so options were not checked";
  }
  return found;
}

Diagnosis check_hypervisor(const Platform& platform) {
  const KernelFacts& kernel = platform.kernel;
  Diagnosis found;
  const std::string refused = kernel.log_line("Failed to synchronize CPU cache state");
  if (!refused.empty()) {
    found.problem(CheckState::fail,
                  "the kernel refused to commit a region: the CPU shows a "
                  "hypervisor, and it may not flush caches there");
    found.show("kernel log", refused);
  } else if (kernel.hypervisor_visible && !platform.cxl.memories.empty() &&
             !is_committed(platform)) {
    found.problem(CheckState::fail,
                  "the CPU shows a hypervisor: the kernel will refuse to commit a "
                  "region with 'Failed to synchronize CPU cache state'");
    found.show("proc/cpuinfo", "flags: hypervisor");
  }
  if (found.state == CheckState::fail) {
    found.fix(
        "start the guest with -cpu max,-hypervisor (TCG) or -cpu host,-hypervisor (KVM), or "
        "use a kernel with CONFIG_CXL_REGION_INVALIDATION_TEST=y");
    return found;
  }
  if (const std::string line = kernel.log_line("KVM internal error"); !line.empty()) {
    found.problem(CheckState::fail,
                  "CXL memory was used as RAM under KVM, which QEMU before 11.1 "
                  "maps as device memory");
    found.show("kernel log", line);
    found.fix("use TCG (-accel tcg), or QEMU 11.1 or later with a window that is not interleaved");
    return found;
  }
  if (platform.cxl.memories.empty()) return skipped("no CXL memory device");
  return fine(is_committed(platform) ? "a region is committed" : "no hypervisor is visible");
}

}  // namespace cxltier
