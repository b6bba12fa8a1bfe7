// SPDX-License-Identifier: Apache-2.0
//
// The pointer chase: each load's address is the load before it, so its time is a latency.
//
//   slot 0      slot 1      slot 2      slot 3          one pointer per slot of `spacing` bytes
//   [ ->2 ]     [ ->0 ]     [ ->3 ]     [ ->1 ]         0 -> 2 -> 3 -> 1 -> 0: one cycle
//
// The order is random and seeded: neither a stride nor the next line is ever worth prefetching. One
// cycle through all slots, which is verified before anything is timed: a permutation with several
// cycles would chase a part of the buffer that may fit a cache.
//
//   whole        any slot after any other: every load also misses the TLB, as in a hash table
//   page_local   all slots of a group of 64 pages, then the next group: latency without TLB misses
//
// Several chains are several cursors at equal distances on the one cycle: they never meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/tier/kernel/histogram.h"
#include "bench/tier/kernel/timer.h"

namespace cxltier::bench {

enum class ChaseOrder : std::uint8_t { whole, page_local };

inline constexpr std::size_t chase_group_bytes = 64 * 4096;
// One pointer in four lines.  With one in each line the prefetchers that fetch a missed line's
// neighbours bring lines that the chase still needs: AMD Zen 3 then shows 82 ns within groups where
// it shows 120 at this spacing.
inline constexpr std::size_t chase_spacing = 256;
inline constexpr std::size_t chains_max = 16;

struct ChaseShape {
  ChaseOrder order = ChaseOrder::whole;
  std::size_t spacing = chase_spacing;  // bytes between pointers: 64, 128 or 256
  std::uint64_t seed = 1;
};

class Chase {
 public:
  // Writes the cycle into the buffer and walks it once.  Nothing if the walk does not come back
  // after exactly all slots, or if the buffer has fewer than 2 slots.  The buffer must outlive it.
  // pre: buffer is aligned to spacing; fewer than 2^32 slots
  static std::optional<Chase> build(std::span<std::byte> buffer, const ChaseShape& shape);

  // Follows `chains` cursors, `steps` loads each (rounded up to a multiple of 64), and returns the
  // ticks that it took, without the timer's own cost.
  // pre: chains is 1 .. chains_max
  std::uint64_t run(std::size_t chains, std::uint64_t steps, const Timer& timer) noexcept;

  // Times batches of 8 dependent loads until `batches` are done; each value is the ticks of a batch
  // without the timer's cost.
  void run_batches(std::uint64_t batches, const Timer& timer, Histogram& ticks) noexcept;
  static constexpr std::uint64_t loads_per_batch = 8;

  [[nodiscard]] std::size_t slots() const noexcept { return slots_; }

 private:
  Chase(void* start, std::size_t slots) noexcept;
  void place_cursors(std::size_t chains) noexcept;

  void* cursor_[chains_max] = {};
  void* start_ = nullptr;
  std::size_t slots_ = 0;
  std::size_t chains_placed_ = 0;
};

// Length of the cycle that `first` lies on, at most `limit`.
[[nodiscard]] std::size_t cycle_length(const void* first, std::size_t limit) noexcept;

// The order in which the slots are visited, each exactly once.  pre: slots < 2^32
void fill_visit_order(std::span<std::uint32_t> order, const ChaseShape& shape);

}  // namespace cxltier::bench
