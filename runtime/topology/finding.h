// SPDX-License-Identifier: Apache-2.0
//
// What a reading of the machine found odd: values, for `topo`, the log and `stat` to print.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/machine.h"

namespace cxltier {

enum class FindingKind : std::uint8_t {
  nodes_beyond_limit,        // value: nodes with memory
  size_unreadable,           // node
  cpus_unreadable,           // node
  cpus_offline,              // node, value: how many of its listed CPUs are offline
  cpus_overlap,              // node, value: how many of its CPUs an earlier node has too
  distance_unreadable,       // node, value: columns found
  latency_absurd,            // node, value: nanoseconds
  bandwidth_absurd,          // node, value: MB/s
  kind_unproven,             // node: no CPUs, and nothing says what it is
  special_purpose_unproven,  // node: from a special-purpose range, not faster than DRAM
  kinds_disagree,            // node: devices of several kinds lie in it
  kmem_node_absent,          // node: a dax device gives its memory to a node that is not online
  cxl_joins_cpu_node,        // node: CXL memory is, or would be, in a node with CPUs
  cxl_not_system_ram,        // node: a CXL dax device is not bound to kmem
  cxl_without_region,        // value: CXL memory devices
  dax_without_node,          // value: dax devices whose node the kernel does not know
};
inline constexpr std::size_t finding_kinds = 16;

inline constexpr NodeId node_none{0xffff};

struct Finding {
  FindingKind kind{};
  NodeId node = node_none;
  std::uint64_t value = 0;
};

// The first findings_max of them, and how many more there were.
class Findings {
 public:
  static constexpr std::size_t findings_max = 128;

  void add(const Finding& finding) noexcept {
    if (count_ < findings_max) {
      list_[count_++] = finding;
    } else {
      ++dropped_;
    }
  }
  [[nodiscard]] std::span<const Finding> list() const noexcept { return {list_.data(), count_}; }
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

 private:
  std::array<Finding, findings_max> list_{};
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

// The name that JSON and counters use, such as "latency_absurd".
[[nodiscard]] const char* name_of(FindingKind kind) noexcept;

// One clause that says what it means and what to do about it; where the finding has a value, "%" in
// the text stands for it.
[[nodiscard]] const char* text_of(FindingKind kind) noexcept;

// The word for a kind of node: "dram", "cxl", ...
[[nodiscard]] const char* name_of(NodeKind kind) noexcept;

}  // namespace cxltier
