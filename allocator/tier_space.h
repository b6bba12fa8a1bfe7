// SPDX-License-Identifier: Apache-2.0
//
// The addresses of all memory that has a placement, reserved in one piece, so that an address tells
// the class.
//
//   begin                                                                          end
//   |  slot 0                         |  slot 1                         | ... slot 15 |
//   |  in use | committed | PROT_NONE |
//   begin  next     committed     begin of slot 1
//
// A slot belongs to one class, and gets its memory policy once, over all its addresses.  It only
// grows: the extents that it gives out stay with the arena that asked for them, and memory goes
// back to the kernel by advice, never by unmapping.  So a slot is two VMAs whatever happens in it.
//
// Access is opened in steps (commit_step), since mlockall populates what is open; and before the
// first page of a step is touched, since the closed rest would otherwise be written to core files.
//
// The reservation lies low, where the kernel puts nothing by itself: all other heap memory is above
// end(), so that free() tells the two apart by one comparison.  Where the kernel refuses that place
// it lies anywhere, and the comparison is only a first guess; contains() is exact.
//
// No locks, no allocation: take() runs inside jemalloc's locks, on several threads at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cxltier/heap.hpp"

namespace cxltier::heap {

class TierSpace {
 public:
  static constexpr std::size_t slots_max = 16;
  static constexpr std::size_t slot_bytes_max = std::size_t{1} << 40;
  static constexpr std::size_t slot_bytes_min = std::size_t{64} << 20;
  static constexpr std::size_t commit_step = std::size_t{64} << 20;

  // Reserves all slots, each of at least `slot_bytes_wanted` and at most slot_bytes_max; where the
  // kernel refuses, half as much, down to slot_bytes_min.  Returns whether there is a reservation.
  // pre: one thread at a time; once it has returned true it is not called again
  bool reserve(std::size_t slot_bytes_wanted) noexcept;

  // 0 while nothing is reserved.
  [[nodiscard]] std::uintptr_t end() const noexcept { return end_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool contains(const void* address) const noexcept;
  // pre: contains(address)
  [[nodiscard]] std::size_t slot_of(const void* address) const noexcept;
  [[nodiscard]] Range addresses_of(std::size_t slot) const noexcept;
  // The part of a slot that may hold pages.
  [[nodiscard]] Range used_part_of(std::size_t slot) const noexcept;

  // Readable and writable memory that reads as zero, or nullptr.  Any thread, inside any lock.
  // pre: alignment is a power of two and at least a page; size is a multiple of the page
  void* take(std::size_t slot, std::size_t size, std::size_t alignment) noexcept;

  // Empties a slot: its pages go back to the kernel, its addresses are given out anew.
  // pre: nobody uses memory of the slot
  void reset(std::size_t slot) noexcept;

 private:
  struct Slot {
    std::atomic<std::uintptr_t> next{0};
    std::atomic<std::uintptr_t> committed{0};
  };

  bool reserve_exactly(std::size_t slot_bytes) noexcept;
  bool commit(Slot& slot, std::uintptr_t needed_end, std::uintptr_t slot_end) noexcept;

  std::atomic<std::uintptr_t> end_{0};
  std::atomic<std::uintptr_t> begin_{0};
  std::atomic<unsigned> slot_shift_{0};
  std::array<Slot, slots_max> slots_{};
};

}  // namespace cxltier::heap
