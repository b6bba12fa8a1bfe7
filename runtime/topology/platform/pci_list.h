// SPDX-License-Identifier: Apache-2.0
//
// PCI functions: what they are, where they hang, and how fast their links are.
//
// A link has two ends.  What carries bytes is the slower of both ends' current state; whether that
// is less than the device could do is judged against the device's own maximum, since a root port
// may be wider than any card.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/topology/platform/files.h"
#include "runtime/topology/platform/pci_config.h"

namespace cxltier {

struct PciLink {
  double speed = 0;    // GT/s for each lane; 0: not known
  unsigned width = 0;  // lanes; 0: not known, or no link
  [[nodiscard]] bool is_known() const { return speed > 0 && width > 0; }
  // Bytes per second in one direction after line coding: 8b/10b to 5 GT/s, 128b/130b to 32 GT/s,
  // and one bit a transfer in the flit mode of 64 GT/s.
  [[nodiscard]] double bytes_per_second() const;
};

struct PciFunction {
  std::string address;  // "0000:0d:00.0"
  std::string parent;   // the bridge above; empty below a host bridge
  std::uint32_t class_code = 0;
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::optional<std::int64_t> numa_node;
  std::string driver;
  std::vector<std::string> memdevs;  // "mem0" below it
  PciLink current;
  PciLink maximum;
  std::uint64_t errors_correctable = 0;
  std::uint64_t errors_fatal = 0;  // fatal and non-fatal ones
  std::optional<PciConfig> config;
  bool is_config_short = false;  // the reader may see 64 bytes only: needs root

  // Memory device, CXL: class 05, subclass 02.
  [[nodiscard]] bool has_cxl_class() const { return class_code >> 8 == 0x0502; }
  [[nodiscard]] bool is_cxl_memory() const;
  [[nodiscard]] bool is_integrated() const;
};

struct LinkVerdict {
  PciLink effective;  // the slower of both ends
  PciLink device_maximum;
  PciLink port_maximum;
  std::string port;  // address of the other end; empty: not known
  bool is_degraded = false;
  // What holds it back: "port", "device" (its own maximum) or "training".
  std::string limit;
};

class PciList {
 public:
  std::vector<PciFunction> functions;
  [[nodiscard]] const PciFunction* find(std::string_view address) const;
  // Nothing where the function has no link or its speed is not known.
  [[nodiscard]] std::optional<LinkVerdict> link_of(const PciFunction& function) const;
};

[[nodiscard]] PciList read_pci_list(Files& files);

// "16.0 GT/s PCIe", "Unknown"
[[nodiscard]] double parse_link_speed(std::string_view text);

// "x8 at 16 GT/s"
[[nodiscard]] std::string link_text(const PciLink& link);

}  // namespace cxltier
