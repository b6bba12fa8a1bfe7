// SPDX-License-Identifier: Apache-2.0
//
// What all ACPI tables share: the header, its checks, and the faults that a parser notes.
//
// A fault is a value: parsing goes on as far as the bytes allow.  Offsets count from the start of
// the table, so that a fault can be found in a hex dump.  Layout of the header: ACPI 6.5, 5.2.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/topology/acpi/byte_view.h"

namespace cxltier::acpi {

inline constexpr std::size_t header_size = 36;

struct Fault {
  std::size_t offset = 0;
  std::string text;
  std::string section;  // of the specification, such as "CXL 3.1, 9.18.1.3"
};
using Faults = std::vector<Fault>;

struct Header {
  std::string signature;
  std::uint32_t length = 0;  // as the header says
  std::uint8_t revision = 0;
  std::string oem;
};

struct OpenedTable {
  Header header;
  ByteView bytes;  // the whole table, cut to its length
};

// Nothing, and one fault, if the bytes are too few for a header or carry another signature.  A
// length beyond the bytes and a bad checksum are faults, and the table is opened all the same.
[[nodiscard]] std::optional<OpenedTable> open_table(std::span<const std::uint8_t> bytes,
                                                    std::string_view signature, Faults& faults);

// One entry of a table that is a list of entries: type, length, bytes.
struct Entry {
  std::size_t offset = 0;  // of the entry in the table
  std::uint64_t type = 0;
  ByteView bytes;
};

// How an entry says its type and length: where, and in how many bytes.
struct EntryForm {
  std::size_t begin = header_size;  // of the first entry
  std::size_t type_size = 1;
  std::size_t length_at = 2;
  std::size_t length_size = 2;
  const char* section = "";
};

// Walks the entries; one whose length is too small or leaves the table ends the walk with a fault.
class EntryWalk {
 public:
  EntryWalk(ByteView table, const EntryForm& form, Faults& faults)
      : table_(table), form_(form), faults_(faults), at_(form.begin) {}
  [[nodiscard]] std::optional<Entry> next();

 private:
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t at, std::size_t size) const;

  ByteView table_;
  EntryForm form_;
  Faults& faults_;
  std::size_t at_;
};

// Notes that an entry is shorter than its kind needs; true if it is long enough.
[[nodiscard]] bool is_long_enough(const Entry& entry, std::size_t needed, const char* what,
                                  const char* section, Faults& faults);

}  // namespace cxltier::acpi
