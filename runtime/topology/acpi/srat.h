// SPDX-License-Identifier: Apache-2.0
//
// SRAT: which processors, memory ranges, initiators and ports belong to which proximity domain.
//
// Source: ACPI 6.5, 5.2.16; the generic port affinity structure: 5.2.16.7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/topology/acpi/table.h"

namespace cxltier::acpi {

struct ProcessorAffinity {
  std::uint32_t domain = 0;
  std::uint32_t apic_id = 0;
};

struct MemoryAffinity {
  std::size_t offset = 0;
  std::uint32_t domain = 0;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  bool is_hot_pluggable = false;  // an address range that may be filled later, not memory
  bool is_persistent = false;
};

enum class GenericKind : std::uint8_t { initiator, port };

struct GenericAffinity {
  std::size_t offset = 0;
  GenericKind kind = GenericKind::initiator;
  std::uint32_t domain = 0;
  std::string device;  // "ACPI0016 UID 12", or "PCI 0000:0c:00.0"
};

// Entries that are not enabled are left out.
struct Srat {
  Header header;
  std::vector<ProcessorAffinity> processors;
  std::vector<MemoryAffinity> memory;
  std::vector<GenericAffinity> generic;
  std::size_t entries_disabled = 0;
  Faults faults;
};

[[nodiscard]] Srat parse_srat(std::span<const std::uint8_t> bytes);

}  // namespace cxltier::acpi
