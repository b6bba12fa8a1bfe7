// SPDX-License-Identifier: Apache-2.0
//
// CEDT, the CXL Early Discovery Table: which host bridges speak CXL, and which host-physical
// address windows firmware has set aside for CXL memory.
//
//   CHBS   a host bridge           CFMWS  a fixed memory window and the host bridges behind it
//   CXIMS  XOR maps of a window    RDPAS  the RCEC of a CXL 1.1 downstream port
//
// Source: CXL 3.1, 9.18.1 (CXL 2.0 to 3.0: 9.14.1, 9.17.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/topology/acpi/table.h"

namespace cxltier::acpi {

struct HostBridge {
  std::size_t offset = 0;
  std::uint32_t uid = 0;      // _UID of the ACPI0016 device
  std::uint32_t version = 0;  // 0: CXL 1.1, a restricted host (RCH); 1: CXL 2.0 and later
  std::uint64_t base = 0;     // RCRB for version 0, component registers for version 1
  std::uint64_t length = 0;   // 0x2000 and 0x10000
  [[nodiscard]] bool is_restricted() const { return version == 0; }
};

enum class Arithmetic : std::uint8_t { modulo, exclusive_or, unknown };

struct Window {
  std::size_t offset = 0;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint32_t ways = 0;         // 0: the encoded value is reserved
  std::uint64_t granularity = 0;  // bytes; 0: the encoded value is reserved
  Arithmetic arithmetic = Arithmetic::unknown;
  std::uint16_t restrictions = 0;
  std::uint16_t qos_group = 0;
  std::vector<std::uint32_t> targets;  // UIDs of host bridges, in interleave order

  static constexpr std::uint16_t restrict_type2 = 1;
  static constexpr std::uint16_t restrict_type3 = 2;
  static constexpr std::uint16_t restrict_volatile = 4;
  static constexpr std::uint16_t restrict_persistent = 8;
  static constexpr std::uint16_t restrict_fixed = 16;
  [[nodiscard]] bool is_volatile() const { return (restrictions & restrict_volatile) != 0; }
  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= base && address - base < size;
  }
};

struct XorMaps {
  std::size_t offset = 0;
  std::uint64_t granularity = 0;
  std::vector<std::uint64_t> maps;
};

struct RcecAssociation {
  std::size_t offset = 0;
  std::uint16_t segment = 0;
  std::uint16_t bdf = 0;  // of the RCEC: bus 15:8, device 7:3, function 2:0
  bool is_cache_mem = false;
  std::uint64_t address = 0;
};

struct Cedt {
  Header header;
  std::vector<HostBridge> host_bridges;
  std::vector<Window> windows;
  std::vector<XorMaps> xor_maps;
  std::vector<RcecAssociation> associations;
  std::size_t entries_unknown = 0;
  Faults faults;
};

[[nodiscard]] Cedt parse_cedt(std::span<const std::uint8_t> bytes);

}  // namespace cxltier::acpi
