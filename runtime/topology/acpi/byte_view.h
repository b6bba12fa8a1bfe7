// SPDX-License-Identifier: Apache-2.0
//
// Little-endian numbers in bytes that nobody has checked.
//
// A read that would leave the bytes gives nothing; there is no other way to get at them, so a
// parser over a ByteView cannot run off a truncated table.  Does not own the bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cxltier::acpi {

class ByteView {
 public:
  ByteView() = default;
  explicit ByteView(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(std::size_t at, std::size_t length) const {
    return at <= bytes_.size() && length <= bytes_.size() - at;
  }
  // The part that exists of `length` bytes from `at`.
  [[nodiscard]] ByteView slice(std::size_t at, std::size_t length) const {
    const std::size_t begin = std::min(at, bytes_.size());
    return ByteView(bytes_.subspan(begin, std::min(length, bytes_.size() - begin)));
  }
  [[nodiscard]] std::optional<std::uint64_t> u8(std::size_t at) const { return number(at, 1); }
  [[nodiscard]] std::optional<std::uint64_t> u16(std::size_t at) const { return number(at, 2); }
  [[nodiscard]] std::optional<std::uint64_t> u32(std::size_t at) const { return number(at, 4); }
  [[nodiscard]] std::optional<std::uint64_t> u64(std::size_t at) const { return number(at, 8); }
  // Printable characters; others become '?', and what lies outside is left out.
  [[nodiscard]] std::string text(std::size_t at, std::size_t length) const {
    std::string found;
    for (const std::uint8_t byte : slice(at, length).bytes_) {
      found += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '?';
    }
    return found;
  }
  // All bytes added up, modulo 256: 0 for a good table.
  [[nodiscard]] unsigned sum() const {
    unsigned total = 0;
    for (const std::uint8_t byte : bytes_) total += byte;
    return total & 0xff;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t at, std::size_t length) const {
    if (!holds(at, length)) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = length; i-- > 0;) value = value << 8 | bytes_[at + i];
    return value;
  }

  std::span<const std::uint8_t> bytes_;
};

}  // namespace cxltier::acpi
