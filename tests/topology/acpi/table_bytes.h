// SPDX-License-Identifier: Apache-2.0
//
// Writes ACPI tables byte by byte, as firmware does: the parsers' opposite, and no code of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace cxltier {

class TableBytes {
 public:
  TableBytes(std::string_view signature, std::uint8_t revision) {
    text(signature);
    number(0, 4);  // length, filled in by finish()
    number(revision, 1);
    number(0, 1);  // checksum
    text("TEST  ");
    text("SYNTHETI");
    for (int i = 0; i < 12; ++i) number(0, 1);
  }

  // Little endian; a size beyond 8 is filled with zeros.
  TableBytes& number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes_.push_back(i < 8 ? static_cast<std::uint8_t>(value >> (8 * i)) : std::uint8_t{0});
    }
    return *this;
  }
  TableBytes& text(std::string_view letters) {
    bytes_.insert(bytes_.end(), letters.begin(), letters.end());
    return *this;
  }
  TableBytes& bytes(const std::vector<std::uint8_t>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }

  TableBytes& chbs(std::uint64_t uid, std::uint64_t version, std::uint64_t base) {
    number(0, 1).number(0, 1).number(32, 2).number(uid, 4).number(version, 4).number(0, 4);
    return number(base, 8).number(version == 0 ? 0x2000 : 0x10000, 8);
  }

  struct Window {
    std::uint64_t base;
    std::uint64_t size;
    std::uint64_t ways_code;
    std::uint64_t arithmetic;
    std::uint64_t restrictions;
    std::uint64_t qos;
    std::vector<std::uint32_t> targets;
  };
  TableBytes& cfmws(const Window& window) {
    number(1, 1).number(0, 1).number(36 + 4 * window.targets.size(), 2).number(0, 4);
    number(window.base, 8).number(window.size, 8).number(window.ways_code, 1);
    number(window.arithmetic, 1).number(0, 2).number(0, 4);
    number(window.restrictions, 2).number(window.qos, 2);
    for (const std::uint32_t target : window.targets) number(target, 4);
    return *this;
  }
  TableBytes& cxims(std::uint64_t granularity_code, std::initializer_list<std::uint64_t> maps) {
    number(2, 1).number(0, 1).number(8 + 8 * maps.size(), 2).number(0, 2);
    number(granularity_code, 1).number(maps.size(), 1);
    for (const std::uint64_t map : maps) number(map, 8);
    return *this;
  }

  // The table with its length and its checksum.
  std::vector<std::uint8_t> finish() {
    for (std::size_t i = 0; i < 4; ++i) {
      bytes_[4 + i] = static_cast<std::uint8_t>(bytes_.size() >> (8 * i));
    }
    std::uint8_t sum = 0;
    for (const std::uint8_t byte : bytes_) sum = static_cast<std::uint8_t>(sum + byte);
    bytes_[9] = static_cast<std::uint8_t>(bytes_[9] - sum);
    return bytes_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace cxltier
