// SPDX-License-Identifier: Apache-2.0
//
// The address ranges that the heap has mapped, in a fixed table without locks.
//
// It is written inside the allocator's locks and read by the controller, and a fork may freeze any
// other thread in the middle of an update; so a range is one word, changed by compare-and-swap
// only.
//
//    63                     28 27                    0
//    +------------------------+----------------------+
//    | first grain (36 bits)  | grains (28 bits)     |     0: the slot is free
//    +------------------------+----------------------+
//
// A grain is 4 KiB, the smallest page of any machine we know, whatever the page size of this one:
// 48 address bits, and 1 TiB per slot; longer ranges take several.
//
// Life of a slot:  free -> range -> longer (an adjacent range was added)
//                            |  \-> shorter (an end was removed)
//                            \----> free (all of it was removed)
// A hole in the middle leaves the left part in the slot and puts the right part into another one.
// Between these two steps the right part is in no slot; a remover that misses something looks again
// while such a split is in transit.
//
// Invariant: the ranges of all slots are disjoint, if the callers' are (the kernel sees to that).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cxltier/heap.hpp"

namespace cxltier::heap {

class RangeTable {
 public:
  // pre: range is not empty and overlaps no recorded range
  void add(Range range) noexcept;
  // Any part of what was added, also across several recorded ranges.  What is not there is ignored.
  void remove(Range range) noexcept;
  // As heap::copy_ranges.
  std::size_t copy(std::span<Range> out) const noexcept;
  // Whether a recorded range holds the address.
  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept;
  // Bytes added and not removed, whether there was a slot for them or not.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }
  // Ranges, or parts of one, that found no slot.
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }
  // For the child of a fork, where splits of other threads stay in transit for ever.
  void forget_splits_in_transit() noexcept;

 private:
  using Slot = std::atomic<std::uint64_t>;

  bool lengthen_neighbour(std::uint64_t first, std::uint64_t grains) noexcept;
  void place(std::uint64_t first, std::uint64_t grains) noexcept;
  std::uint64_t remove_in_one_pass(std::uint64_t first, std::uint64_t grains) noexcept;
  std::uint64_t remove_in_slot(Slot& slot, std::uint64_t first, std::uint64_t end) noexcept;

  std::array<Slot, ranges_max> slots_{};
  std::atomic<std::size_t> slots_used_{0};  // slots from here on were never used
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> splits_started_{0};
  std::atomic<std::uint64_t> splits_finished_{0};
};

}  // namespace cxltier::heap
