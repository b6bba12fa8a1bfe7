// SPDX-License-Identifier: Apache-2.0
//
// The locality structure is two lists and a matrix; its sizes are checked before any is read.
#include "runtime/topology/acpi/hmat.h"

#include <fmt/format.h>

namespace cxltier::acpi {
namespace {

constexpr const char* section = "ACPI 6.5, 5.2.28";
constexpr std::size_t lists_at = 32;
constexpr std::uint64_t entry_unreachable = 0xffff;

class HmatParser {
 public:
  explicit HmatParser(Hmat& hmat) : hmat_(hmat) {}

  void take(const Entry& entry) {
    switch (entry.type) {
      case 0:
        return take_domain(entry);
      case 1:
        return take_locality(entry);
      case 2:
        return take_cache(entry);
      default:
        return;
    }
  }

 private:
  void take_domain(const Entry& entry);
  void take_locality(const Entry& entry);
  void take_cache(const Entry& entry);
  [[nodiscard]] std::uint64_t value_of(std::uint64_t entry, std::uint64_t base,
                                       const Locality& locality) const;

  Hmat& hmat_;
};

void HmatParser::take_domain(const Entry& entry) {
  if (!is_long_enough(entry, 40, "domain attributes", section, hmat_.faults)) return;
  hmat_.domains.push_back({entry.offset, (*entry.bytes.u16(8) & 1) != 0,
                           static_cast<std::uint32_t>(*entry.bytes.u32(12)),
                           static_cast<std::uint32_t>(*entry.bytes.u32(16))});
}

void HmatParser::take_cache(const Entry& entry) {
  if (!is_long_enough(entry, 32, "memory side cache", section, hmat_.faults)) return;
  hmat_.caches.push_back({entry.offset, static_cast<std::uint32_t>(*entry.bytes.u32(8)),
                          *entry.bytes.u64(16), static_cast<std::uint32_t>(*entry.bytes.u32(24))});
}

std::uint64_t HmatParser::value_of(std::uint64_t entry, std::uint64_t base,
                                   const Locality& locality) const {
  if (entry == 0) return value_unknown;
  if (entry == entry_unreachable) return value_unreachable;
  if (base > (~std::uint64_t{0} >> 24)) return value_unknown;  // the product would overflow
  const std::uint64_t value = entry * base;
  if (hmat_.header.revision >= 2) return value;
  return locality.is_latency() ? value * 100 : value / 10;
}

void HmatParser::take_locality(const Entry& entry) {
  if (!is_long_enough(entry, lists_at, "locality", section, hmat_.faults)) return;
  const ByteView& bytes = entry.bytes;
  const std::uint64_t kind = *bytes.u8(9);
  const std::uint64_t initiators = *bytes.u32(12);
  const std::uint64_t targets = *bytes.u32(16);
  // Both counts are below 2^32, so nothing here overflows.
  const bool fits = initiators <= bytes.size() && targets <= bytes.size() &&
                    bytes.holds(lists_at, 4 * (initiators + targets) + 2 * initiators * targets);
  if (kind > 5 || !fits) {
    hmat_.faults.push_back(
        {entry.offset,
         fmt::format("locality of kind {} with {} initiators and {} targets does not fit into {} "
                     "bytes; left out",
                     kind, initiators, targets, bytes.size()),
         section});
    return;
  }
  Locality locality;
  locality.offset = entry.offset;
  locality.kind = static_cast<LocalityKind>(kind);
  locality.hierarchy = static_cast<std::uint8_t>(*bytes.u8(8) & 0xf);
  for (std::size_t i = 0; i < initiators; ++i) {
    locality.initiators.push_back(static_cast<std::uint32_t>(*bytes.u32(lists_at + 4 * i)));
  }
  for (std::size_t i = 0; i < targets; ++i) {
    locality.targets.push_back(
        static_cast<std::uint32_t>(*bytes.u32(lists_at + 4 * (initiators + i))));
  }
  const std::size_t matrix_at = lists_at + 4 * (initiators + targets);
  for (std::size_t i = 0; i < initiators * targets; ++i) {
    locality.values.push_back(value_of(*bytes.u16(matrix_at + 2 * i), *bytes.u64(24), locality));
  }
  hmat_.localities.push_back(std::move(locality));
}

}  // namespace

Hmat parse_hmat(std::span<const std::uint8_t> bytes) {
  Hmat hmat;
  const std::optional<OpenedTable> table = open_table(bytes, "HMAT", hmat.faults);
  if (!table) return hmat;
  hmat.header = table->header;
  HmatParser parser(hmat);
  // Four reserved bytes stand between the header and the first entry.
  EntryWalk walk(table->bytes, {header_size + 4, 2, 4, 4, section}, hmat.faults);
  while (const std::optional<Entry> entry = walk.next()) parser.take(*entry);
  return hmat;
}

}  // namespace cxltier::acpi
