// SPDX-License-Identifier: Apache-2.0
//
// The texts of sysfs and procfs as values.
//
// Every function is total: any bytes in, a value or "not understood" out; nothing is read beyond
// the text.  Blanks, line ends and NUL bytes around a value are skipped, since some kernels and
// most snapshot tools leave them.  Pure; any thread.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/machine.h"
#include "policy/units.h"

namespace cxltier {

inline constexpr std::size_t cpu_ids_max = 8192;  // NR_CPUS of the largest x86 kernels

// A set of CPU numbers.
using CpuSet = std::bitset<cpu_ids_max>;

// first <= last
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

enum class ListStep : std::uint8_t { range, end, malformed };

// Takes the next range of "0-3,8" off the front of `rest`.  "end" when nothing but blanks is left.
[[nodiscard]] ListStep next_range(std::string_view& rest, IdRange& range) noexcept;

// False, and the ranges before the fault kept, if the text is malformed.  Ids that no set can hold
// are left out.  An empty text is an empty set.
[[nodiscard]] bool parse_node_list(std::string_view text, NodeSet& nodes) noexcept;
[[nodiscard]] bool parse_cpu_list(std::string_view text, CpuSet& cpus) noexcept;

// A mask in words of 32 bits, highest first: "0000000f,ffff0000".
[[nodiscard]] bool parse_cpu_mask(std::string_view text, CpuSet& cpus) noexcept;

// A number that fills the text: decimal, or hexadecimal after "0x".
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;

// A node as files name it: nothing for -1 and for ids that no kernel has.
[[nodiscard]] std::optional<NodeId> parse_node(std::string_view text) noexcept;

// MemTotal of a node's meminfo.
[[nodiscard]] std::optional<Bytes> parse_mem_total(std::string_view text) noexcept;

// Writes the columns of a distance row and returns how many there were; 0 if the row is malformed
// or longer than `out`.  Distances below 10 are reserved and become 0, "unknown".
[[nodiscard]] std::size_t parse_distances(std::string_view text,
                                          std::span<std::uint8_t> out) noexcept;

// The value of a line "Key: value" or "Key:\tvalue"; empty if there is no such line.
[[nodiscard]] std::string_view field_of(std::string_view text, std::string_view key) noexcept;

// The number in names such as "node12" and "memory_tier4"; nothing for other names.
[[nodiscard]] std::optional<std::uint32_t> number_after(std::string_view prefix,
                                                        std::string_view name) noexcept;

// Not string_view's own members: those reach for the run-time library's exceptions.
[[nodiscard]] bool has_prefix(std::string_view text, std::string_view prefix) noexcept;

// Takes the next component off the front of a path; empty at its end.
[[nodiscard]] std::string_view next_component(std::string_view& path) noexcept;

// The last component of a path.
[[nodiscard]] std::string_view last_component(std::string_view path) noexcept;

}  // namespace cxltier
