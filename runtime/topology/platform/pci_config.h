// SPDX-License-Identifier: Apache-2.0
//
// CXL and link registers in a PCI function's configuration space.
//
// A CXL device is known by its DVSEC of vendor 1e98 and id 0, not by its class: CXL 1.1 devices
// often have another class, or none.  Sources: CXL 3.1, 8.1 (DVSECs); PCI Express 6.0, 7.5.3 (PCI
// Express capability) and 7.9.6 (DVSEC).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/topology/acpi/byte_view.h"

namespace cxltier {

struct CxlDvsec {
  std::size_t offset = 0;
  std::uint16_t capability = 0;
  std::uint16_t control = 0;
  std::uint64_t range_size = 0;  // of range 1
  std::uint64_t range_base = 0;
  bool range_valid = false;
  bool range_active = false;
  [[nodiscard]] bool can_mem() const { return (capability & 4) != 0; }
  [[nodiscard]] bool is_mem_enabled() const { return (control & 4) != 0; }
};

struct Dvsec {
  std::size_t offset = 0;
  std::uint16_t vendor = 0;
  std::uint16_t id = 0;
};

enum class PortType : std::uint8_t {
  endpoint = 0,
  root_port = 4,
  upstream = 5,
  downstream = 6,
  integrated_endpoint = 9,
  event_collector = 10,
  unknown = 255,
};

struct LinkState {
  unsigned speed = 0;  // of 1 (2.5 GT/s) to 6 (64 GT/s); 0: none or not known
  unsigned width = 0;  // lanes
};

struct PciConfig {
  bool is_extended = false;  // bytes beyond 256 were there: else no DVSEC can be seen
  PortType port_type = PortType::unknown;
  LinkState current;
  LinkState maximum;
  std::optional<CxlDvsec> cxl;
  std::vector<Dvsec> dvsecs;
  std::vector<std::size_t> doe;  // offsets of data object exchange mailboxes
  std::optional<std::uint16_t> flex_bus_status;
};

[[nodiscard]] PciConfig parse_pci_config(std::span<const std::uint8_t> bytes);

}  // namespace cxltier
