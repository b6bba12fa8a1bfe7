// SPDX-License-Identifier: Apache-2.0
//
// HMAT: latency and bandwidth between initiators and memory, and memory-side caches.
//
// Source: ACPI 6.5, 5.2.28.  Units differ by revision as the kernel reads them
// (drivers/acpi/numa/hmat.c, hmat_normalize): revision 1 counts 100 ps and 100 KB/s, revision 2
// picoseconds and MB/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/topology/acpi/table.h"

namespace cxltier::acpi {

struct DomainAttributes {
  std::size_t offset = 0;
  bool has_initiator = false;
  std::uint32_t initiator = 0;
  std::uint32_t memory = 0;
};

enum class LocalityKind : std::uint8_t {
  access_latency,
  read_latency,
  write_latency,
  access_bandwidth,
  read_bandwidth,
  write_bandwidth,
};

inline constexpr std::uint64_t value_unknown = 0;
inline constexpr std::uint64_t value_unreachable = ~std::uint64_t{0};

struct Locality {
  std::size_t offset = 0;
  LocalityKind kind = LocalityKind::access_latency;
  std::uint8_t hierarchy = 0;  // 0: memory, else the level of a memory-side cache
  std::vector<std::uint32_t> initiators;
  std::vector<std::uint32_t> targets;
  // values[initiator * targets.size() + target]: picoseconds or MB/s, value_unknown or
  // value_unreachable.
  std::vector<std::uint64_t> values;
  [[nodiscard]] bool is_latency() const { return kind <= LocalityKind::write_latency; }
};

struct SideCache {
  std::size_t offset = 0;
  std::uint32_t memory = 0;
  std::uint64_t size = 0;
  std::uint32_t attributes = 0;
};

struct Hmat {
  Header header;
  std::vector<DomainAttributes> domains;
  std::vector<Locality> localities;
  std::vector<SideCache> caches;
  Faults faults;
};

[[nodiscard]] Hmat parse_hmat(std::span<const std::uint8_t> bytes);

}  // namespace cxltier::acpi
