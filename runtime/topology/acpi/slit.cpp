// SPDX-License-Identifier: Apache-2.0
//
// A number and a square of bytes.
#include "runtime/topology/acpi/slit.h"

#include <fmt/format.h>

namespace cxltier::acpi {
namespace {

constexpr const char* section = "ACPI 6.5, 5.2.17";
constexpr std::size_t matrix_at = header_size + 8;
constexpr std::size_t localities_max = 1024;  // more than any kernel has nodes

void check_distances(Slit& slit) {
  const std::size_t n = slit.localities;
  for (std::size_t i = 0; i < n; ++i) {
    if (slit.distances[i * n + i] != 10) {
      slit.faults.push_back(
          {matrix_at + i * n + i,
           fmt::format("domain {} is at {} from itself, not 10", i, slit.distances[i * n + i]),
           section});
    }
  }
}

}  // namespace

Slit parse_slit(std::span<const std::uint8_t> bytes) {
  Slit slit;
  const std::optional<OpenedTable> table = open_table(bytes, "SLIT", slit.faults);
  if (!table) return slit;
  slit.header = table->header;
  const std::optional<std::uint64_t> count = table->bytes.u64(header_size);
  if (!count || *count > localities_max || !table->bytes.holds(matrix_at, *count * *count)) {
    slit.faults.push_back({header_size,
                           fmt::format("{} localities do not fit into {} bytes", count.value_or(0),
                                       table->bytes.size()),
                           section});
    return slit;
  }
  slit.localities = *count;
  for (std::size_t i = 0; i < *count * *count; ++i) {
    slit.distances.push_back(static_cast<std::uint8_t>(*table->bytes.u8(matrix_at + i)));
  }
  check_distances(slit);
  return slit;
}

}  // namespace cxltier::acpi
