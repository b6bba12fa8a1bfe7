// SPDX-License-Identifier: Apache-2.0
//
// Reads the entries one by one, then checks what only several of them together can show.
#include "runtime/topology/acpi/cedt.h"

#include <fmt/format.h>

#include <algorithm>

namespace cxltier::acpi {
namespace {

constexpr const char* chbs_section = "CXL 3.1, 9.18.1.2";
constexpr const char* cfmws_section = "CXL 3.1, 9.18.1.3";
constexpr const char* cxims_section = "CXL 3.1, 9.18.1.4";
constexpr const char* rdpas_section = "CXL 3.1, 9.18.1.5";
constexpr std::uint64_t window_unit = std::uint64_t{256} << 20;  // sizes and bases are multiples

// Encoded interleave ways: 0 to 4 are powers of two, 8 to 10 are 3, 6 and 12; 0 for reserved
// values.
std::uint32_t ways_of(std::uint64_t encoded) {
  if (encoded <= 4) return std::uint32_t{1} << encoded;
  if (encoded >= 8 && encoded <= 10) return std::uint32_t{3} << (encoded - 8);
  return 0;
}

std::uint64_t granularity_of(std::uint64_t encoded) {
  return encoded <= 6 ? std::uint64_t{256} << encoded : 0;
}

// How many XOR maps select one of the ways: a factor of 3 is done by modulo.
std::size_t xor_maps_needed(std::uint32_t ways) {
  std::size_t maps = 0;
  for (std::uint32_t rest = ways % 3 == 0 ? ways / 3 : ways; rest > 1; rest /= 2) ++maps;
  return maps;
}

class CedtParser {
 public:
  explicit CedtParser(Cedt& cedt) : cedt_(cedt) {}

  void take(const Entry& entry) {
    switch (entry.type) {
      case 0:
        return take_host_bridge(entry);
      case 1:
        return take_window(entry);
      case 2:
        return take_xor_maps(entry);
      case 3:
        return take_association(entry);
      default:
        ++cedt_.entries_unknown;
    }
  }

  void check_together() {
    for (const Window& window : cedt_.windows) {
      check_targets(window);
      if (window.arithmetic == Arithmetic::exclusive_or) check_xor(window);
    }
  }

 private:
  void fault(std::size_t offset, std::string text, const char* section) {
    cedt_.faults.push_back({offset, std::move(text), section});
  }
  void take_host_bridge(const Entry& entry);
  void take_window(const Entry& entry);
  void take_xor_maps(const Entry& entry);
  void take_association(const Entry& entry);
  void check_window(const Window& window, std::uint64_t ways, std::uint64_t granularity);
  void check_targets(const Window& window);
  void check_xor(const Window& window);

  Cedt& cedt_;
};

void CedtParser::take_host_bridge(const Entry& entry) {
  if (!is_long_enough(entry, 32, "CHBS", chbs_section, cedt_.faults)) return;
  HostBridge bridge;
  bridge.offset = entry.offset;
  bridge.uid = static_cast<std::uint32_t>(*entry.bytes.u32(4));
  bridge.version = static_cast<std::uint32_t>(*entry.bytes.u32(8));
  bridge.base = *entry.bytes.u64(16);
  bridge.length = *entry.bytes.u64(24);
  const std::uint64_t expected = bridge.version == 0 ? 0x2000 : 0x10000;
  if (bridge.version > 1) {
    fault(entry.offset + 8, fmt::format("CHBS version {} is reserved", bridge.version),
          chbs_section);
  } else if (bridge.length != expected) {
    fault(entry.offset + 24,
          fmt::format("CHBS length {:#x}, not the {:#x} of version {}", bridge.length, expected,
                      bridge.version),
          chbs_section);
  }
  cedt_.host_bridges.push_back(bridge);
}

void CedtParser::check_window(const Window& window, std::uint64_t ways, std::uint64_t granularity) {
  if (window.ways == 0) {
    fault(window.offset + 24, fmt::format("interleave ways {:#x} are reserved", ways),
          cfmws_section);
  }
  if (window.granularity == 0) {
    fault(window.offset + 28, fmt::format("granularity {:#x} is reserved", granularity),
          cfmws_section);
  }
  if (window.size == 0 || window.base % window_unit != 0 ||
      window.size % (window_unit * std::max(1u, window.ways)) != 0) {
    fault(window.offset + 8,
          fmt::format("window {:#x} + {:#x} is not aligned to 256 MiB times its ways", window.base,
                      window.size),
          cfmws_section);
  }
  if (window.base + window.size < window.base) {
    fault(window.offset + 16, "window leaves the address space", cfmws_section);
  }
}

void CedtParser::take_window(const Entry& entry) {
  if (!is_long_enough(entry, 36, "CFMWS", cfmws_section, cedt_.faults)) return;
  const ByteView& bytes = entry.bytes;
  Window window;
  window.offset = entry.offset;
  window.base = *bytes.u64(8);
  window.size = *bytes.u64(16);
  window.ways = ways_of(*bytes.u8(24));
  window.granularity = granularity_of(*bytes.u32(28));
  const std::uint64_t arithmetic = *bytes.u8(25);
  if (arithmetic <= 1) window.arithmetic = static_cast<Arithmetic>(arithmetic);
  window.restrictions = static_cast<std::uint16_t>(*bytes.u16(32));
  window.qos_group = static_cast<std::uint16_t>(*bytes.u16(34));
  check_window(window, *bytes.u8(24), *bytes.u32(28));
  if (arithmetic > 1) {
    fault(entry.offset + 25, fmt::format("interleave arithmetic {} is reserved", arithmetic),
          cfmws_section);
  }
  for (std::uint32_t target = 0; target < window.ways; ++target) {
    const std::optional<std::uint64_t> uid = bytes.u32(36 + std::size_t{4} * target);
    if (!uid) {
      fault(entry.offset, fmt::format("CFMWS names {} of {} targets", target, window.ways),
            cfmws_section);
      break;
    }
    window.targets.push_back(static_cast<std::uint32_t>(*uid));
  }
  cedt_.windows.push_back(std::move(window));
}

void CedtParser::take_xor_maps(const Entry& entry) {
  if (!is_long_enough(entry, 8, "CXIMS", cxims_section, cedt_.faults)) return;
  XorMaps maps;
  maps.offset = entry.offset;
  maps.granularity = granularity_of(*entry.bytes.u8(6));
  const std::uint64_t count = *entry.bytes.u8(7);
  for (std::size_t map = 0; map < count; ++map) {
    const std::optional<std::uint64_t> value = entry.bytes.u64(8 + 8 * map);
    if (!value) {
      fault(entry.offset + 7, fmt::format("CXIMS holds {} of {} maps", map, count), cxims_section);
      break;
    }
    maps.maps.push_back(*value);
  }
  cedt_.xor_maps.push_back(std::move(maps));
}

// The record is packed: the address stands at an odd offset (ACPICA, actbl1.h, acpi_cedt_rdpas).
void CedtParser::take_association(const Entry& entry) {
  if (!is_long_enough(entry, 17, "RDPAS", rdpas_section, cedt_.faults)) return;
  cedt_.associations.push_back({entry.offset, static_cast<std::uint16_t>(*entry.bytes.u16(4)),
                                static_cast<std::uint16_t>(*entry.bytes.u16(6)),
                                *entry.bytes.u8(8) == 1, *entry.bytes.u64(9)});
}

void CedtParser::check_targets(const Window& window) {
  for (std::size_t position = 0; position < window.targets.size(); ++position) {
    const std::uint32_t uid = window.targets[position];
    const bool known = std::any_of(cedt_.host_bridges.begin(), cedt_.host_bridges.end(),
                                   [uid](const HostBridge& bridge) { return bridge.uid == uid; });
    if (!known) {
      fault(window.offset + 36 + 4 * position,
            fmt::format("window {:#x} names host bridge {:#x}, which no CHBS describes",
                        window.base, uid),
            cfmws_section);
    }
  }
}

void CedtParser::check_xor(const Window& window) {
  const std::size_t needed = xor_maps_needed(window.ways);
  const auto maps = std::find_if(
      cedt_.xor_maps.begin(), cedt_.xor_maps.end(),
      [&window](const XorMaps& candidate) { return candidate.granularity == window.granularity; });
  const std::size_t found = maps == cedt_.xor_maps.end() ? 0 : maps->maps.size();
  if (found < needed) {
    fault(window.offset + 25,
          fmt::format(
              "window {:#x} interleaves {} ways by XOR, which needs {} maps of granularity {}; "
              "CXIMS gives {}",
              window.base, window.ways, needed, window.granularity, found),
          cxims_section);
  }
}

}  // namespace

Cedt parse_cedt(std::span<const std::uint8_t> bytes) {
  Cedt cedt;
  const std::optional<OpenedTable> table = open_table(bytes, "CEDT", cedt.faults);
  if (!table) return cedt;
  cedt.header = table->header;
  CedtParser parser(cedt);
  EntryWalk walk(table->bytes, {header_size, 1, 2, 2, "CXL 3.1, 9.18.1"}, cedt.faults);
  while (const std::optional<Entry> entry = walk.next()) parser.take(*entry);
  parser.check_together();
  return cedt;
}

}  // namespace cxltier::acpi
