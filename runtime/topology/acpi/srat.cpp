// SPDX-License-Identifier: Apache-2.0
//
// One function per kind of entry.
#include "runtime/topology/acpi/srat.h"

#include <fmt/format.h>

namespace cxltier::acpi {
namespace {

constexpr const char* section = "ACPI 6.5, 5.2.16";
constexpr std::uint64_t flag_enabled = 1;
constexpr std::uint64_t flag_hot_pluggable = 2;
constexpr std::uint64_t flag_persistent = 4;

class SratParser {
 public:
  explicit SratParser(Srat& srat) : srat_(srat) {}

  void take(const Entry& entry) {
    switch (entry.type) {
      case 0:
        return take_apic(entry);
      case 1:
        return take_memory(entry);
      case 2:
        return take_x2apic(entry);
      case 5:
        return take_generic(entry, GenericKind::initiator);
      case 6:
        return take_generic(entry, GenericKind::port);
      default:
        return;  // GICC, ITS, RINTC: other architectures' processors
    }
  }

 private:
  bool is_enabled(std::uint64_t flags) {
    if ((flags & flag_enabled) != 0) return true;
    ++srat_.entries_disabled;
    return false;
  }
  void take_apic(const Entry& entry);
  void take_x2apic(const Entry& entry);
  void take_memory(const Entry& entry);
  void take_generic(const Entry& entry, GenericKind kind);

  Srat& srat_;
};

void SratParser::take_apic(const Entry& entry) {
  if (!is_long_enough(entry, 16, "processor affinity", section, srat_.faults)) return;
  if (!is_enabled(*entry.bytes.u32(4))) return;
  const std::uint64_t high = *entry.bytes.u16(9) | *entry.bytes.u8(11) << 16;
  srat_.processors.push_back({static_cast<std::uint32_t>(*entry.bytes.u8(2) | high << 8),
                              static_cast<std::uint32_t>(*entry.bytes.u8(3))});
}

void SratParser::take_x2apic(const Entry& entry) {
  if (!is_long_enough(entry, 24, "x2APIC affinity", section, srat_.faults)) return;
  if (!is_enabled(*entry.bytes.u32(12))) return;
  srat_.processors.push_back({static_cast<std::uint32_t>(*entry.bytes.u32(4)),
                              static_cast<std::uint32_t>(*entry.bytes.u32(8))});
}

void SratParser::take_memory(const Entry& entry) {
  if (!is_long_enough(entry, 40, "memory affinity", section, srat_.faults)) return;
  const std::uint64_t flags = *entry.bytes.u32(28);
  if (!is_enabled(flags)) return;
  MemoryAffinity memory;
  memory.offset = entry.offset;
  memory.domain = static_cast<std::uint32_t>(*entry.bytes.u32(2));
  memory.base = *entry.bytes.u64(8);
  memory.size = *entry.bytes.u64(16);
  memory.is_hot_pluggable = (flags & flag_hot_pluggable) != 0;
  memory.is_persistent = (flags & flag_persistent) != 0;
  if (memory.base + memory.size < memory.base) {
    srat_.faults.push_back({entry.offset + 16, "memory range leaves the address space", section});
    return;
  }
  srat_.memory.push_back(memory);
}

void SratParser::take_generic(const Entry& entry, GenericKind kind) {
  const char* what = kind == GenericKind::port ? "generic port" : "generic initiator";
  if (!is_long_enough(entry, 32, what, section, srat_.faults)) return;
  if (!is_enabled(*entry.bytes.u32(24))) return;
  GenericAffinity generic;
  generic.offset = entry.offset;
  generic.kind = kind;
  generic.domain = static_cast<std::uint32_t>(*entry.bytes.u32(4));
  const std::uint64_t bdf = *entry.bytes.u16(10);
  generic.device = *entry.bytes.u8(3) == 0
                       ? fmt::format("{} UID {}", entry.bytes.text(8, 8), *entry.bytes.u32(16))
                       : fmt::format("PCI {:04x}:{:02x}:{:02x}.{}", *entry.bytes.u16(8), bdf >> 8,
                                     bdf >> 3 & 0x1f, bdf & 7);
  srat_.generic.push_back(std::move(generic));
}

}  // namespace

Srat parse_srat(std::span<const std::uint8_t> bytes) {
  Srat srat;
  const std::optional<OpenedTable> table = open_table(bytes, "SRAT", srat.faults);
  if (!table) return srat;
  srat.header = table->header;
  SratParser parser(srat);
  // Twelve reserved bytes stand between the header and the first entry.
  EntryWalk walk(table->bytes, {header_size + 12, 1, 1, 1, section}, srat.faults);
  while (const std::optional<Entry> entry = walk.next()) parser.take(*entry);
  return srat;
}

}  // namespace cxltier::acpi
