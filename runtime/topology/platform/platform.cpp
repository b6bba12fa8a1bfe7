// SPDX-License-Identifier: Apache-2.0
//
// Calls every reader once; where a reader of sysfs finds nothing, the listings of a snapshot serve.
#include "runtime/topology/platform/platform.h"

#include <span>

#include "runtime/topology/platform/cxl_listing.h"

namespace cxltier {
namespace {

constexpr const char* tables = "sys/firmware/acpi/tables";

template <typename Table>
std::optional<Table> read_table(Files& files, const char* name,
                                Table (*parse)(std::span<const std::uint8_t>)) {
  const std::optional<std::string> bytes = files.whole(std::string(tables) + "/" + name);
  if (!bytes) return std::nullopt;
  return parse({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
}

AcpiTables read_acpi(Files& files) {
  AcpiTables acpi;
  for (const std::string& name : files.names(tables)) acpi.names.insert(name);
  acpi.folder_exists = !acpi.names.empty() || files.exists(tables);
  acpi.cedt = read_table(files, "CEDT", acpi::parse_cedt);
  acpi.srat = read_table(files, "SRAT", acpi::parse_srat);
  acpi.slit = read_table(files, "SLIT", acpi::parse_slit);
  acpi.hmat = read_table(files, "HMAT", acpi::parse_hmat);
  return acpi;
}

void read_cxl(Files& files, Platform& platform) {
  platform.cxl = read_cxl_bus(files);
  platform.dax = read_dax_list(files);
  const std::optional<std::string> cxl_text = files.whole("cxl-list.json");
  const std::optional<std::string> verbose_text = files.whole("cxl-list-vvv.json");
  const std::string& listing = cxl_text ? *cxl_text : verbose_text.value_or("");
  if (!listing.empty()) {
    CxlBus listed = parse_cxl_listing(listing);
    if (platform.cxl.source == CxlSource::none) {
      platform.cxl = std::move(listed);
    } else {
      add_health(listed, platform.cxl);
    }
  }
  if (platform.dax.empty()) {
    platform.dax = parse_daxctl_listing(files.whole("daxctl-list.json").value_or(""));
  }
}

void read_acpi_devices(Files& files, Platform& platform) {
  for (const std::string& name : files.names("sys/bus/acpi/devices")) {
    if (name.starts_with("ACPI0016:") || name.starts_with("ACPI0017:")) {
      platform.acpi_cxl_devices.push_back(name);
    }
  }
  platform.cxl_acpi_bound = !files.link("sys/bus/platform/devices/ACPI0017:00/driver").empty() ||
                            !files.link("sys/devices/platform/ACPI0017:00/driver").empty();
}

void read_blocks(Files& files, Platform& platform) {
  platform.blocks = read_memory_blocks(files);
  if (!platform.blocks.blocks.empty()) return;
  if (const std::optional<std::string> text = files.whole("lsmem.txt")) {
    platform.blocks = parse_lsmem(*text).value_or(MemoryBlocks{});
  }
}

}  // namespace

const Node* Platform::node(std::int64_t id) const {
  if (!reading || id < 0 || id >= static_cast<std::int64_t>(node_ids_max)) return nullptr;
  const Machine& machine = reading->machine;
  const std::size_t position = position_of(machine, static_cast<NodeId>(id));
  return position < machine.node_count ? &machine.nodes[position] : nullptr;
}

bool Platform::has_cxl_trace() const {
  if (!acpi_cxl_devices.empty() || !cxl.memories.empty() || acpi.names.contains("CEDT"))
    return true;
  if (acpi.cedt && !acpi.cedt->host_bridges.empty()) return true;
  for (const PciFunction& function : pci.functions) {
    if (function.is_cxl_memory()) return true;
  }
  return false;
}

std::vector<const DaxInstance*> Platform::dax_of_region(std::string_view region) const {
  std::vector<const DaxInstance*> found;
  for (const DaxInstance& instance : dax) {
    if (instance.origin == DaxOrigin::cxl && instance.region == region) found.push_back(&instance);
  }
  return found;
}

Platform read_platform(FileTree& tree, const PlatformOptions& options) {
  Platform platform;
  Files files(tree);
  platform.is_snapshot = options.is_snapshot;
  const Result<Reading> reading = read_machine(tree);
  platform.reading_error = reading.error();
  if (reading.ok()) platform.reading = reading.value();
  platform.acpi = read_acpi(files);
  read_acpi_devices(files, platform);
  read_cxl(files, platform);
  if (!options.skips_blocks) read_blocks(files, platform);
  if (const std::optional<std::string> iomem = files.whole("proc/iomem")) {
    platform.iomem = parse_iomem(*iomem);
    if (platform.iomem->is_hidden) files.note_closed("proc/iomem");
  }
  platform.kernel = read_kernel_facts(files, options.kernel_log);
  platform.pci = read_pci_list(files);
  for (const PciFunction& function : platform.pci.functions) {
    if (function.has_cxl_class() && function.is_config_short) {
      files.note_closed("sys/bus/pci/devices/" + function.address + "/config");
    }
  }
  platform.tiering = read_tiering_facts(files);
  platform.container = read_container_facts(files);
  platform.closed = files.closed();
  return platform;
}

}  // namespace cxltier
