// SPDX-License-Identifier: Apache-2.0
//
// Two linked lists of capabilities, each walked a bounded number of steps.
#include "runtime/topology/platform/pci_config.h"

namespace cxltier {
namespace {

constexpr std::size_t extended_at = 256;
constexpr std::uint16_t cxl_vendor = 0x1e98;
constexpr std::uint64_t extended_dvsec = 0x23;
constexpr std::uint64_t extended_doe = 0x2e;
constexpr std::uint64_t capability_express = 0x10;

class PciConfigParser {
 public:
  explicit PciConfigParser(acpi::ByteView bytes) : bytes_(bytes) {}

  PciConfig parse() {
    config_.is_extended = bytes_.size() > extended_at;
    walk_capabilities();
    walk_extended();
    return config_;
  }

 private:
  void walk_capabilities();
  void walk_extended();
  void take_express(std::size_t at);
  void take_dvsec(std::size_t at);
  void take_cxl_device(std::size_t at);

  acpi::ByteView bytes_;
  PciConfig config_;
};

void PciConfigParser::walk_capabilities() {
  std::uint64_t at = bytes_.u8(0x34).value_or(0) & 0xfc;
  for (int steps = 0; at >= 0x40 && steps < 48; ++steps) {
    const std::optional<std::uint64_t> head = bytes_.u16(at);
    if (!head) return;
    if ((*head & 0xff) == capability_express) take_express(at);
    at = *head >> 8 & 0xfc;
  }
}

void PciConfigParser::take_express(std::size_t at) {
  const std::optional<std::uint64_t> flags = bytes_.u16(at + 2);
  if (!flags) return;
  const std::uint64_t type = *flags >> 4 & 0xf;
  config_.port_type = type <= 10 ? static_cast<PortType>(type) : PortType::unknown;
  if (config_.port_type == PortType::integrated_endpoint) return;  // no link
  const std::uint64_t capability = bytes_.u32(at + 0xc).value_or(0);
  const std::uint64_t status = bytes_.u16(at + 0x12).value_or(0);
  config_.maximum = {static_cast<unsigned>(capability & 0xf),
                     static_cast<unsigned>(capability >> 4 & 0x3f)};
  config_.current = {static_cast<unsigned>(status & 0xf),
                     static_cast<unsigned>(status >> 4 & 0x3f)};
}

void PciConfigParser::walk_extended() {
  std::size_t at = extended_at;
  constexpr int steps_max = 960;  // 3,840 bytes in steps of 4
  for (int steps = 0; at >= extended_at && steps < steps_max; ++steps) {
    const std::optional<std::uint64_t> head = bytes_.u32(at);
    if (!head || *head == 0 || *head == 0xffff'ffff) return;
    if ((*head & 0xffff) == extended_dvsec) take_dvsec(at);
    if ((*head & 0xffff) == extended_doe) config_.doe.push_back(at);
    at = *head >> 20 & 0xffc;
  }
}

void PciConfigParser::take_dvsec(std::size_t at) {
  const std::optional<std::uint64_t> vendor = bytes_.u16(at + 4);
  const std::optional<std::uint64_t> id = bytes_.u16(at + 8);
  if (!vendor || !id) return;
  config_.dvsecs.push_back(
      {at, static_cast<std::uint16_t>(*vendor), static_cast<std::uint16_t>(*id)});
  if (*vendor != cxl_vendor) return;
  if (*id == 0) take_cxl_device(at);
  if (*id == 7 && bytes_.u16(at + 0xe)) {
    config_.flex_bus_status = static_cast<std::uint16_t>(*bytes_.u16(at + 0xe));
  }
}

void PciConfigParser::take_cxl_device(std::size_t at) {
  const std::optional<std::uint64_t> capability = bytes_.u16(at + 0xa);
  const std::optional<std::uint64_t> control = bytes_.u16(at + 0xc);
  if (!capability || !control) return;
  CxlDvsec device;
  device.offset = at;
  device.capability = static_cast<std::uint16_t>(*capability);
  device.control = static_cast<std::uint16_t>(*control);
  const std::uint64_t low = bytes_.u32(at + 0x1c).value_or(0);
  device.range_size = bytes_.u32(at + 0x18).value_or(0) << 32 | (low & 0xf000'0000);
  device.range_valid = (low & 1) != 0;
  device.range_active = (low & 2) != 0;
  device.range_base =
      bytes_.u32(at + 0x20).value_or(0) << 32 | (bytes_.u32(at + 0x24).value_or(0) & 0xf000'0000);
  config_.cxl = device;
}

}  // namespace

PciConfig parse_pci_config(std::span<const std::uint8_t> bytes) {
  return PciConfigParser(acpi::ByteView(bytes)).parse();
}

}  // namespace cxltier
