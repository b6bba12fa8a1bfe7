// SPDX-License-Identifier: Apache-2.0
//
// Everything that `cxltier topo` and `cxltier doctor` know of a machine, read once into one value.
//
// The value holds no file and no descriptor: what follows from it is a pure function of it, and a
// snapshot of another machine gives the same value as that machine does.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/os/file_tree.h"
#include "runtime/topology/acpi/cedt.h"
#include "runtime/topology/acpi/hmat.h"
#include "runtime/topology/acpi/slit.h"
#include "runtime/topology/acpi/srat.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/platform/cxl_bus.h"
#include "runtime/topology/platform/dax_list.h"
#include "runtime/topology/platform/iomem.h"
#include "runtime/topology/platform/kernel_facts.h"
#include "runtime/topology/platform/memory_blocks.h"
#include "runtime/topology/platform/pci_list.h"
#include "runtime/topology/platform/tiering_facts.h"

namespace cxltier {

// Nothing: the table is not there, or may not be read (Platform::closed names it then).
struct AcpiTables {
  bool folder_exists = false;  // sys/firmware/acpi/tables, which lists tables to everybody
  std::optional<acpi::Cedt> cedt;
  std::optional<acpi::Srat> srat;
  std::optional<acpi::Slit> slit;
  std::optional<acpi::Hmat> hmat;
  std::set<std::string> names;  // of the tables that are listed
};

struct Platform {
  // Nothing if the folder of nodes cannot be read.
  std::optional<Reading> reading;
  int reading_error = 0;
  AcpiTables acpi;
  std::vector<std::string> acpi_cxl_devices;  // ACPI0016:00, ACPI0017:00
  bool cxl_acpi_bound = false;                // the ACPI0017 device has its driver
  CxlBus cxl;
  std::vector<DaxInstance> dax;
  MemoryBlocks blocks;
  std::optional<Iomem> iomem;
  KernelFacts kernel;
  PciList pci;
  TieringFacts tiering;
  ContainerFacts container;
  std::set<std::string> closed;  // files that exist and may not be read
  bool is_snapshot = false;

  [[nodiscard]] const Node* node(std::int64_t id) const;
  // Whether CXL shows anywhere: bus, tables, PCI functions.
  [[nodiscard]] bool has_cxl_trace() const;
  // dax instances that hold a device's memory.
  [[nodiscard]] std::vector<const DaxInstance*> dax_of_region(std::string_view region) const;
};

struct PlatformOptions {
  bool is_snapshot = false;
  std::string kernel_log;  // of this machine; a snapshot brings its own
  // A large machine has ten thousand memory blocks, and who only shows it needs none.
  bool skips_blocks = false;
};

[[nodiscard]] Platform read_platform(FileTree& tree, const PlatformOptions& options);

}  // namespace cxltier
