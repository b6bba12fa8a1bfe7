// SPDX-License-Identifier: Apache-2.0
//
// The header's checks and the walk over entries.
#include "runtime/topology/acpi/table.h"

#include <fmt/format.h>

namespace cxltier::acpi {
namespace {

constexpr const char* header_section = "ACPI 6.5, 5.2.6";

}  // namespace

std::optional<OpenedTable> open_table(std::span<const std::uint8_t> bytes,
                                      std::string_view signature, Faults& faults) {
  const ByteView all(bytes);
  if (all.size() < header_size) {
    faults.push_back(
        {0, fmt::format("{} bytes, fewer than the {} of a header", all.size(), header_size),
         header_section});
    return std::nullopt;
  }
  OpenedTable table;
  table.header.signature = all.text(0, 4);
  table.header.length = static_cast<std::uint32_t>(*all.u32(4));
  table.header.revision = static_cast<std::uint8_t>(*all.u8(8));
  table.header.oem = all.text(10, 6);
  if (table.header.signature != signature) {
    faults.push_back({0, fmt::format("signature '{}', not '{}'", table.header.signature, signature),
                      header_section});
    return std::nullopt;
  }
  if (table.header.length < header_size) {
    faults.push_back(
        {4, fmt::format("length {} is less than a header's", table.header.length), header_section});
    return std::nullopt;
  }
  if (table.header.length > all.size()) {
    faults.push_back({4, fmt::format("truncated: {} bytes of {}", all.size(), table.header.length),
                      header_section});
  }
  table.bytes = all.slice(0, table.header.length);
  if (table.header.length <= all.size() && table.bytes.sum() != 0) {
    faults.push_back(
        {9, fmt::format("checksum wrong: the bytes add up to {:#04x}, not 0", table.bytes.sum()),
         header_section});
  }
  return table;
}

std::optional<std::uint64_t> EntryWalk::number(std::size_t at, std::size_t size) const {
  if (size == 1) return table_.u8(at);
  return size == 2 ? table_.u16(at) : table_.u32(at);
}

std::optional<Entry> EntryWalk::next() {
  if (at_ >= table_.size()) return std::nullopt;
  const std::optional<std::uint64_t> type = number(at_, form_.type_size);
  const std::optional<std::uint64_t> length = number(at_ + form_.length_at, form_.length_size);
  const std::size_t smallest = form_.length_at + form_.length_size;
  if (!type || !length || *length < smallest || !table_.holds(at_, *length)) {
    faults_.push_back(
        {at_,
         length ? fmt::format("entry of length {} does not fit; the rest is not read", *length)
                : std::string("the table ends within an entry"),
         form_.section});
    at_ = table_.size();
    return std::nullopt;
  }
  const Entry entry{at_, *type, table_.slice(at_, *length)};
  at_ += *length;
  return entry;
}

bool is_long_enough(const Entry& entry, std::size_t needed, const char* what, const char* section,
                    Faults& faults) {
  if (entry.bytes.size() >= needed) return true;
  faults.push_back(
      {entry.offset,
       fmt::format("{} of {} bytes, needs {}; left out", what, entry.bytes.size(), needed),
       section});
  return false;
}

}  // namespace cxltier::acpi
