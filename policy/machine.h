// SPDX-License-Identifier: Apache-2.0
//
// The machine as values: its memory nodes, how far they are from each other, and the tiers that
// they form for one process.
//
//   Machine   what the hardware is; the same for every process        (runtime/topology fills it)
//   TierMap   how one process sees it, from the CPUs that it may use   (assign_tiers, pure)
//
// Invariant (is_valid): nodes are sorted by id without repeats, node_count <= nodes_max, and every
// tier below tier_count has at least one node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/units.h"

namespace cxltier {

enum class NodeKind : std::uint8_t { dram, cxl, hbm, gpu, persistent, unknown };

// A set of node ids.  Always 1,024 bits wide: a mask shorter than the kernel's is how stacks get
// smashed.
class NodeSet {
 public:
  constexpr void insert(NodeId node) {
    if (index_of(node) < node_ids_max) word(node) |= bit(node);
  }
  constexpr void erase(NodeId node) {
    if (index_of(node) < node_ids_max) word(node) &= ~bit(node);
  }
  [[nodiscard]] constexpr bool contains(NodeId node) const {
    return index_of(node) < node_ids_max && (words_[index_of(node) / 64] & bit(node)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const {
    for (const std::uint64_t w : words_) {
      if (w != 0) return false;
    }
    return true;
  }
  // The words as the kernel's nodemask wants them: bit n of word n/64.
  [[nodiscard]] constexpr std::span<const std::uint64_t> words() const { return words_; }
  friend constexpr bool operator==(const NodeSet&, const NodeSet&) = default;

 private:
  static constexpr std::uint64_t bit(NodeId node) {
    return std::uint64_t{1} << (index_of(node) % 64);
  }
  constexpr std::uint64_t& word(NodeId node) { return words_[index_of(node) / 64]; }

  std::array<std::uint64_t, node_ids_max / 64> words_{};
};

enum class PerformanceSource : std::uint8_t { firmware, measured };

// What is known of a node as seen from its best CPU: what firmware says, or better, what was
// measured.  0 means unknown.
struct NodePerformance {
  std::uint32_t read_latency_ns = 0;
  std::uint32_t write_latency_ns = 0;
  std::uint32_t read_bandwidth_mbps = 0;  // MB/s, as the kernel prints it
  std::uint32_t write_bandwidth_mbps = 0;
  PerformanceSource latency_source = PerformanceSource::firmware;
  PerformanceSource bandwidth_source = PerformanceSource::firmware;
};

struct Node {
  NodeId id{};
  NodeKind kind = NodeKind::unknown;
  std::uint32_t cpu_count = 0;    // 0: a node without CPUs
  Bytes size{};                   // 0: possible or online, but without memory
  NodePerformance performance{};  // absurd values are already rejected
  std::int32_t kernel_tier = -1;  // N of memory_tierN; its order means something, its value nothing
};

struct Machine {
  Bytes page_size{4096};
  Bytes huge_page_size{2u << 20};
  std::uint32_t node_count = 0;
  std::array<Node, nodes_max> nodes{};
  // SLIT distances by position in `nodes`; 0 means unknown, 10 is local.
  std::array<std::array<std::uint8_t, nodes_max>, nodes_max> distance{};
};

// Which tier each node of a Machine is in, by position in Machine::nodes.
struct TierMap {
  std::uint8_t tier_count = 0;
  std::array<TierIndex, nodes_max> tier_of = [] {
    std::array<TierIndex, nodes_max> none{};
    for (TierIndex& tier : none) tier = tier_none;
    return none;
  }();
};

[[nodiscard]] bool is_valid(const Machine& machine) noexcept;
[[nodiscard]] bool is_valid(const TierMap& tiers, const Machine& machine) noexcept;

// Position of a node in machine.nodes, or node_count if it is not there.
[[nodiscard]] std::size_t position_of(const Machine& machine, NodeId node) noexcept;

// The tiers of a process whose threads may run on the CPUs of `own_nodes`:
//   DRAM of its own nodes            the fastest tier
//   DRAM of other nodes              a tier of its own per distance
//   CXL                              below, ordered by read latency, else by distance
// Memory of other kinds (GPU, HBM, persistent, unknown) and nodes without memory are in no tier.
// An empty `own_nodes` means every node that has CPUs.
[[nodiscard]] TierMap assign_tiers(const Machine& machine, const NodeSet& own_nodes) noexcept;

}  // namespace cxltier
