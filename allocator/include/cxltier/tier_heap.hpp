// SPDX-License-Identifier: Apache-2.0
//
// What the runtime tells the heap about tiers, and what the heap does with it.
//
// The heap knows no topology: whoever links it says once which nodes make up which tier, when the
// first hint arrives.  Without that every hint is ignored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cxltier/heap.hpp"

namespace cxltier::heap {

inline constexpr std::size_t node_ids_max = 1024;
inline constexpr std::size_t tiers_max = 8;

// Bit n of word n/64, as the kernel's nodemask; always 1,024 bits.
struct NodeMask {
  std::array<std::uint64_t, node_ids_max / 64> words{};
  friend bool operator==(const NodeMask&, const NodeMask&) = default;
};

// 0 means unknown.
struct Tier {
  NodeMask nodes{};
  std::uint64_t size_bytes = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t bandwidth_mbps = 0;  // MB/s, reads
  bool dram = false;
};

// Fastest tier first.
struct TierTable {
  std::size_t tier_count = 0;
  std::array<Tier, tiers_max> tiers{};
  // Whether mbind may be called.  False where it is refused, kills, or where the user chose a
  // policy for the whole process: classes then have addresses of their own, and no placement.
  bool binding_permitted = false;
  bool moving_permitted = false;  // move_pages, by which a page's node is asked for
  std::size_t memory_bytes = 0;   // of all tiers; what one class may hold at most
  unsigned cpu_count = 1;
};

// Fills `out`.  Called once, on the thread of the first hint, outside of all locks; it must not
// allocate from the heap.
using TierSource = void (*)(TierTable& out) noexcept;

// pre: before the first hint
void set_tier_source(TierSource source) noexcept;

// Free bytes of each tier now, for the answers of cxltier_tiers(); 0: unknown.
using FreeBytes = void (*)(std::array<std::uint64_t, tiers_max>& out) noexcept;
void set_free_bytes_source(FreeBytes source) noexcept;

// Unhinted blocks of at least `bytes_min` that are placed so that the bytes of classes on each tier
// are as its weight.  Blocks are not split.
struct LargeBlocks {
  std::size_t bytes_min = 0;
  std::array<std::uint32_t, tiers_max> weights{};  // fastest tier first
  std::uint32_t slowest_weight = 0;                // added to the slowest tier's, whichever that is
};
// All weights 0: no longer.  Blocks that exist stay.  Without two tiers nothing happens.
// pre: bytes_min > 0; one thread at a time; no lock of the allocator is held
void place_large_blocks(const LargeBlocks& large) noexcept;

// Lets idle arenas give dirty pages back whose time has come.  Blocks on jemalloc's locks: for a
// thread of the runtime, at most once a second.
void decay_idle_memory() noexcept;

// Writes the ranges that callers have pinned (cxltier_pin), sorted; returns how many.
std::size_t copy_pinned_ranges(Range* out, std::size_t count) noexcept;

// For forks: the pins stay as they are in between.
void hold_pins() noexcept;
void let_go_of_pins() noexcept;

}  // namespace cxltier::heap

// The functions of cxltier/alloc.h.
struct cxltier_alloc_table;
namespace cxltier::heap {
extern const cxltier_alloc_table alloc_table;
}  // namespace cxltier::heap
