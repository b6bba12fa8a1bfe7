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
// due() is all that the fast path pays: one relaxed load of a word that is written a few times in
// the life of a process.
#pragma once

#include <atomic>
#include <cstdint>

#include "cxltier/heap.hpp"

namespace cxltier::heap {

// A cache line of its own: every malloc reads it.
class alignas(64) GrowthWatch {
 public:
  // How many allocations pass between two calls of a hook that said `again`.
  static constexpr std::int64_t entries_between_calls = 1024;

  [[nodiscard]] bool due() const noexcept { return due_.load(std::memory_order_relaxed); }
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

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::atomic<bool> due_{false};
  std::atomic<bool> running_{false};
  std::atomic<std::int64_t> countdown_{0};
  std::atomic<std::uint64_t> threshold_{never};
  std::atomic<std::uint64_t> requests_{0};  // so that a hook's answer does not undo a newer request
  std::atomic<AttentionHook> hook_{nullptr};
};

}  // namespace cxltier::heap
