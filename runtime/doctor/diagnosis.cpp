// SPDX-License-Identifier: Apache-2.0
//
// The table of checks, and what several of them ask.
#include "runtime/doctor/diagnosis.h"

#include <fmt/format.h>

#include "runtime/doctor/checks.h"

namespace cxltier {
namespace {

constexpr Check checks[] = {
    {"firmware-cxl", 1, "firmware publishes CXL", Stage::firmware, check_firmware},
    {"firmware-tables", 0, "firmware tables are well-formed", Stage::firmware, check_tables},
    {"device", 2, "CXL devices answer and decode memory", Stage::device, check_device},
    {"serials", 0, "serial numbers tell devices apart", Stage::device, check_serials},
    {"health", 0, "devices are healthy", Stage::device, check_health},
    {"kernel", 3, "kernel and modules can do CXL", Stage::kernel, check_kernel},
    {"hypervisor", 0, "regions can be committed here", Stage::kernel, check_hypervisor},
    {"region", 4, "every device is in a region", Stage::region, check_region},
    {"assembly", 5, "regions are assembled by the CXL driver", Stage::region, check_assembly},
    {"interleave", 0, "devices of a window are interleaved", Stage::region, check_interleave},
    {"soft-reserve", 6, "firmware keeps CXL memory apart from RAM", Stage::memory,
     check_soft_reserve},
    {"blocks", 7, "memory is online", Stage::memory, check_blocks},
    {"block-size", 0, "memory blocks fit the devices", Stage::memory, check_block_size},
    {"node", 8, "memory has a node of its own", Stage::memory, check_node},
    {"distances", 0, "distances are plausible", Stage::memory, check_distances},
    {"link", 9, "links run as fast as the devices can", Stage::link, check_link},
    {"errors", 0, "links run without errors", Stage::link, check_errors},
    {"latency", 0, "firmware's latency and bandwidth are plausible", Stage::link, check_latency},
    {"kernel-tiers", 10, "CXL memory is in a slower kernel tier", Stage::tiering,
     check_kernel_tiers},
    {"demotion", 10, "the kernel demotes cold pages", Stage::tiering, check_demotion},
    {"numa-balancing", 10, "the kernel promotes hot pages", Stage::tiering, check_balancing},
    {"weights", 10, "interleave weights follow bandwidth", Stage::tiering, check_weights},
    {"qos-class", 10, "devices are in windows of their QoS class", Stage::tiering, check_qos},
    {"zone", 10, "CXL memory holds movable pages only", Stage::tiering, check_zone},
    {"cpuset", 0, "this process may use the CXL nodes", Stage::process, check_cpuset},
    {"container", 0, "nothing stops this process from moving pages", Stage::process,
     check_container},
    {"huge-pages", 0, "transparent huge pages are on", Stage::process, check_huge_pages},
    {"sensors", 0, "sensors of memory accesses are open", Stage::process, check_sensors},
};

}  // namespace

std::span<const Check> all_checks() { return checks; }

DoctorReport diagnose(const Platform& platform) {
  DoctorReport report;
  for (const Check& check : checks) report.checks.push_back({&check, check.run(platform)});
  report.closed.assign(platform.closed.begin(), platform.closed.end());
  report.is_blind = !platform.reading && platform.cxl.source == CxlSource::none &&
                    platform.pci.functions.empty() && !platform.acpi.folder_exists &&
                    platform.dax.empty() && platform.blocks.blocks.empty() && !platform.iomem &&
                    platform.kernel.log.empty();
  return report;
}

CheckState DoctorReport::worst() const {
  CheckState worst = CheckState::ok;
  for (const Finished& finished : checks) worst = std::max(worst, finished.diagnosis.state);
  return worst == CheckState::skipped ? CheckState::ok : worst;
}

std::size_t DoctorReport::count(CheckState state) const {
  return static_cast<std::size_t>(std::count_if(
      checks.begin(), checks.end(),
      [state](const Finished& finished) { return finished.diagnosis.state == state; }));
}

const char* name_of(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return "ok";
    case CheckState::skipped:
      return "skipped";
    case CheckState::warn:
      return "warn";
    case CheckState::fail:
      return "fail";
  }
  return "?";
}

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::firmware:
      return "firmware";
    case Stage::device:
      return "device";
    case Stage::kernel:
      return "kernel";
    case Stage::region:
      return "region";
    case Stage::memory:
      return "memory";
    case Stage::link:
      return "link";
    case Stage::tiering:
      return "tiering";
    case Stage::process:
      return "process";
  }
  return "?";
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t mib = 1u << 20;
  if (bytes >= 1024 * mib && bytes % (1024 * mib) == 0) {
    return fmt::format("{} GiB", bytes / (1024 * mib));
  }
  if (bytes % mib == 0) return fmt::format("{} MiB", bytes / mib);
  return fmt::format("{} bytes", bytes);
}

bool is_in_window(const Platform& platform, std::uint64_t address) {
  if (platform.acpi.cedt) {
    for (const acpi::Window& window : platform.acpi.cedt->windows) {
      if (window.contains(address)) return true;
    }
  }
  for (const CxlDecoder* window : platform.cxl.windows()) {
    if (window->start && window->size && address >= *window->start &&
        address - *window->start < *window->size) {
      return true;
    }
  }
  return false;
}

std::vector<const DaxInstance*> cxl_dax(const Platform& platform) {
  std::vector<const DaxInstance*> found;
  for (const DaxInstance& dax : platform.dax) {
    const bool in_window =
        dax.origin == DaxOrigin::hmem && dax.start && is_in_window(platform, *dax.start);
    if (dax.origin == DaxOrigin::cxl || in_window) found.push_back(&dax);
  }
  // `daxctl list` without -R names no path: then a region of the same size and place tells.
  for (const DaxInstance& dax : platform.dax) {
    if (dax.origin == DaxOrigin::unknown && !platform.cxl.memories.empty()) found.push_back(&dax);
  }
  return found;
}

std::vector<const Node*> cxl_nodes(const Platform& platform) {
  std::vector<const Node*> nodes;
  if (!platform.reading) return nodes;
  const Machine& machine = platform.reading->machine;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].kind == NodeKind::cxl) nodes.push_back(&machine.nodes[i]);
  }
  return nodes;
}

std::optional<std::string> needs_root(const Platform& platform, const std::string& file) {
  if (!platform.closed.contains(file)) return std::nullopt;
  return fmt::format("needs root to read /{}", file);
}

}  // namespace cxltier
