// SPDX-License-Identifier: Apache-2.0
//
// Calls one hook when the heap has grown, at a moment when it may allocate.
//
// The heap grows inside the allocator's locks, where nothing of ours may run.  So growth only
// raises a flag, and the next allocation that enters through malloc, where no lock is held, sees
// it.
//
//   request()          grown_to() >= threshold            attend() on an application's thread
//   idle -------------------------------------> due ------------------------> running
//    ^                                           ^  \ countdown > 0: not yet      |
//    |                                           `------------- again ------------+
//    `------------------------------------------------------- done ---------------'
//
// All that the fast path of malloc pays is one comparison with slow_from(), a word that is written
// a few times in the life of a process: 0 while the hook is due, so that every size takes the slow
// way, else the size from which blocks are placed (SIZE_MAX: none are).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cxltier/heap.hpp"

namespace cxltier::heap {

// A cache line of its own: every malloc reads it.
class alignas(64) GrowthWatch {
 public:
  // How many allocations pass between two calls of a hook that said `again`.
  static constexpr std::int64_t entries_between_calls = 1024;

  [[nodiscard]] bool due() const noexcept { return slow_from() == 0; }
  [[nodiscard]] std::size_t slow_from() const noexcept {
    return slow_from_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t large_from() const noexcept {
    return large_from_.load(std::memory_order_relaxed);
  }
  // Blocks of `bytes` and more take the slow way from now on.  Any thread.
  // pre: bytes > 0
  void set_large_from(std::size_t bytes) noexcept;
  // As heap::request_attention; `mapped_bytes` is the present size of the heap.
  void request(std::uint64_t mapped_bytes_at_least, AttentionHook hook,
               std::uint64_t mapped_bytes) noexcept;
  // Any thread, inside any lock.
  void grown_to(std::uint64_t mapped_bytes) noexcept;
  // Runs the hook if it is its turn.  Outside all locks.
  void attend(const void* caller) noexcept;
  // For the child of a fork, where a hook that ran on another thread never returns.
  void forget_running_hook() noexcept { running_.store(false); }

 private:
  void settle(Attention answer, std::uint64_t request_seen) noexcept;
  void raise() noexcept { slow_from_.store(0); }
  void lower() noexcept;

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::atomic<std::size_t> slow_from_{SIZE_MAX};
  std::atomic<std::size_t> large_from_{SIZE_MAX};
  std::atomic<bool> running_{false};
  std::atomic<std::int64_t> countdown_{0};
  std::atomic<std::uint64_t> threshold_{never};
  std::atomic<std::uint64_t> requests_{0};  // so that a hook's answer does not undo a newer request
  std::atomic<AttentionHook> hook_{nullptr};
};

}  // namespace cxltier::heap
