// SPDX-License-Identifier: Apache-2.0
//
// SLIT: relative distances between proximity domains.  Source: ACPI 6.5, 5.2.17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/topology/acpi/table.h"

namespace cxltier::acpi {

inline constexpr std::uint8_t distance_unreachable = 255;

struct Slit {
  Header header;
  std::size_t localities = 0;
  // Row by row: distances[from * localities + to]; empty if the table does not hold them all.
  std::vector<std::uint8_t> distances;
  Faults faults;
};

[[nodiscard]] Slit parse_slit(std::span<const std::uint8_t> bytes);

}  // namespace cxltier::acpi
