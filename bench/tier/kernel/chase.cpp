// SPDX-License-Identifier: Apache-2.0
//
// Building the cycle from a visit order, and following it with 1 to 16 cursors.
//
// A uniformly random visit order closed into a ring is a uniformly random cyclic permutation, as
// Sattolo's algorithm gives; the ring makes "one cycle" true by construction, and both orders the
// same code.
#include "bench/tier/kernel/chase.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/tier/kernel/random.h"

namespace cxltier::bench {
namespace {

constexpr std::uint64_t steps_unrolled = 64;

void*& next_of(void* slot) noexcept { return *static_cast<void**>(slot); }

// One load for each cursor; the compiler keeps the cursors in registers, since all indices are
// constant.  With 16 chains some spill: a store and a load that hit the first-level cache.
template <std::size_t... I>
inline void step(std::array<void*, sizeof...(I)>& cursors, std::index_sequence<I...>) noexcept {
  ((cursors[I] = next_of(cursors[I])), ...);
}

template <std::size_t N>
inline void follow_one(void*& cursor) noexcept {
  if constexpr (N > 0) {
    cursor = next_of(cursor);
    follow_one<N - 1>(cursor);
  }
}

template <std::size_t Chains>
std::uint64_t follow(void** kept, std::uint64_t steps, const Timer& timer) noexcept {
  std::array<void*, Chains> cursors;
  for (std::size_t i = 0; i < Chains; ++i) cursors[i] = kept[i];
  const std::uint64_t start = read_ticks();
  for (std::uint64_t done = 0; done < steps; done += steps_unrolled) {
    if constexpr (Chains == 1) {
      follow_one<steps_unrolled>(cursors[0]);
    } else {
      for (std::uint64_t i = 0; i < steps_unrolled; ++i) {
        step(cursors, std::make_index_sequence<Chains>{});
      }
    }
  }
  for (std::size_t i = 0; i < Chains; ++i) asm volatile("" : "+r"(cursors[i]));
  const std::uint64_t end = read_ticks();
  for (std::size_t i = 0; i < Chains; ++i) kept[i] = cursors[i];
  return timer.between(start, end);
}

using Follow = std::uint64_t (*)(void**, std::uint64_t, const Timer&) noexcept;

template <std::size_t... I>
constexpr std::array<Follow, sizeof...(I)> follow_table(std::index_sequence<I...>) {
  return {&follow<I + 1>...};
}

}  // namespace

void fill_visit_order(std::span<std::uint32_t> order, const ChaseShape& shape) {
  std::iota(order.begin(), order.end(), 0u);
  Random random(shape.seed);
  if (shape.order == ChaseOrder::whole) {
    shuffle(order, random);
    return;
  }
  const std::size_t group_slots = chase_group_bytes / shape.spacing;
  std::vector<std::uint32_t> groups((order.size() + group_slots - 1) / group_slots);
  std::iota(groups.begin(), groups.end(), 0u);
  shuffle(std::span<std::uint32_t>(groups), random);
  std::size_t filled = 0;
  for (const std::uint32_t group : groups) {
    const std::size_t first = group * group_slots;
    const std::size_t count = std::min(group_slots, order.size() - first);
    const auto part = order.subspan(filled, count);
    std::iota(part.begin(), part.end(), static_cast<std::uint32_t>(first));
    shuffle(part, random);
    filled += count;
  }
}

std::size_t cycle_length(const void* first, std::size_t limit) noexcept {
  const void* at = first;
  for (std::size_t length = 1; length <= limit; ++length) {
    at = *static_cast<void* const*>(at);
    if (at == first) return length;
  }
  return limit + 1;
}

Chase::Chase(void* start, std::size_t slots) noexcept : start_(start), slots_(slots) {
  cursor_[0] = start;
  chains_placed_ = 1;
}

std::optional<Chase> Chase::build(std::span<std::byte> buffer, const ChaseShape& shape) {
  const std::size_t slots = buffer.size() / shape.spacing;
  if (slots < 2 || slots >= (std::uint64_t{1} << 32)) return std::nullopt;
  std::vector<std::uint32_t> order(slots);
  fill_visit_order(order, shape);
  // In a slot of several lines each pointer lies in a random one: always the first would use a part
  // of the cache's sets and of the memory's channels only.
  const std::size_t lines = shape.spacing / 64;
  const auto address = [&](std::size_t i) -> void* {
    const std::size_t line = Random(shape.seed ^ order[i]).below(lines);
    return buffer.data() + order[i] * shape.spacing + line * 64;
  };
  for (std::size_t i = 0; i < slots; ++i) next_of(address(i)) = address(i + 1 < slots ? i + 1 : 0);
  Chase chase(address(0), slots);
  if (cycle_length(chase.start_, slots) != slots) return std::nullopt;
  return chase;
}

void Chase::place_cursors(std::size_t chains) noexcept {
  if (chains == chains_placed_) return;
  void* at = start_;
  const std::size_t apart = slots_ / chains;
  for (std::size_t i = 0; i < chains; ++i) {
    cursor_[i] = at;
    for (std::size_t k = 0; k < apart; ++k) at = next_of(at);
  }
  chains_placed_ = chains;
}

std::uint64_t Chase::run(std::size_t chains, std::uint64_t steps, const Timer& timer) noexcept {
  static constexpr auto table = follow_table(std::make_index_sequence<chains_max>{});
  place_cursors(chains);
  return table[chains - 1](cursor_, steps, timer);
}

void Chase::run_batches(std::uint64_t batches, const Timer& timer, Histogram& ticks) noexcept {
  void* at = cursor_[0];
  for (std::uint64_t i = 0; i < batches; ++i) {
    const std::uint64_t start = read_ticks();
    follow_one<loads_per_batch>(at);
    asm volatile("" : "+r"(at));
    ticks.add(timer.between(start, read_ticks()));
  }
  cursor_[0] = at;
}

}  // namespace cxltier::bench
