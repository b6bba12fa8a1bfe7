// SPDX-License-Identifier: Apache-2.0
//
// The classes of placed memory: which there are, where each shall be, and their arenas.
//
// A class is one slot of the tier space, one memory policy, and one to four arenas of jemalloc that
// share the slot.  It is made when a hint first needs it:
//
//   empty --> making --> ready --> making --> empty      (only named arenas go back)
//                                        \--> broken     (jemalloc kept it: never tried again)
//
// At most 16 classes and 16 arenas in all: each arena makes a fork slower.
//
// Making is serialised by a lock that is never held while an allocation is served from a class that
// is ready.  A fork takes it too, so that a child finds every class whole.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocator/extent_hooks.h"
#include "allocator/placement.h"
#include "allocator/tier_space.h"
#include "cxltier/alloc.h"
#include "cxltier/tier_heap.hpp"

namespace cxltier::heap {

// What a class is for.  Tiers come first, so that a tier's number is its class's.
enum class ClassKey : std::uint8_t { tier0 = 0, bandwidth = tiers_max, local_only, kinds };

// A lock for seldom work on application threads.  Gives the processor away while it waits.
class YieldingLock {
 public:
  void acquire() noexcept;
  void release() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class LockHeld {
 public:
  explicit LockHeld(YieldingLock& lock) noexcept : lock_(lock) { lock_.acquire(); }
  ~LockHeld() { lock_.release(); }
  LockHeld(const LockHeld&) = delete;
  LockHeld& operator=(const LockHeld&) = delete;

 private:
  YieldingLock& lock_;
};

struct TierClass {
  enum class State : std::uint8_t { empty, making, ready, broken };
  static constexpr unsigned shards_max = 4;
  static constexpr std::size_t name_max = 32;

  std::atomic<State> state{State::empty};
  Placement placement{};  // changes only under the lock
  std::atomic<std::int8_t> tier{-1};
  SlotHooks hooks{};
  unsigned shards = 1;
  std::array<std::atomic<unsigned>, shards_max> arenas{};  // jemalloc's index + 1
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<cxltier_hint> code{0};  // nodes and arenas: the hint that means this class
  std::uint16_t generation = 0;
  std::array<char, name_max> name{};
};

class TierClasses {
 public:
  static constexpr std::size_t classes_max = TierSpace::slots_max;
  static constexpr std::size_t none = classes_max;
  static constexpr unsigned arenas_max = 16;

  void set_source(TierSource source) noexcept { source_ = source; }
  // Asks the source at the first call.  Outside of all locks.
  const TierTable& table() noexcept;

  // The class of a key, made if need be; `none` where it cannot be.
  std::size_t class_of(ClassKey key, const Placement& placement) noexcept;
  // A class for a set of nodes (the same set: the same class) or, with a name, a new one.
  // Returns `none` when all are taken.
  std::size_t make_for_nodes(const Placement& placement) noexcept;
  std::size_t make_named(std::string_view name, const Placement& placement) noexcept;
  // The class that a hint of cxltier_hint_nodes or cxltier_arena_create means, or `none`.
  [[nodiscard]] std::size_t class_of_code(cxltier_hint code) const noexcept;

  // jemalloc's index + 1 of this thread's arena of a ready class, or 0.
  unsigned arena_of(std::size_t at) noexcept;

  // 0 or an errno.  pre: class_of_code(code) != none
  int destroy_named(cxltier_hint code) noexcept;
  int move_named(cxltier_hint code, const Placement& placement) noexcept;

  [[nodiscard]] TierClass& class_at(std::size_t index) noexcept { return classes_[index]; }
  [[nodiscard]] const TierClass& class_at(std::size_t index) const noexcept {
    return classes_[index];
  }
  [[nodiscard]] bool is_named(std::size_t index) const noexcept;
  [[nodiscard]] bool is_ready(std::size_t index) const noexcept {
    return classes_[index].state.load(std::memory_order_acquire) == TierClass::State::ready;
  }

  // While it is held no arena is made: for forks, and for a program that makes one by mallctl.
  [[nodiscard]] YieldingLock& lock() noexcept { return lock_; }

 private:
  bool prepare_space() noexcept;
  std::size_t make(const Placement& placement, unsigned shards) noexcept;
  std::int8_t tier_of(const Placement& placement) const noexcept;
  bool bind(std::size_t index, const Placement& placement) noexcept;
  unsigned make_arena(TierClass& tier_class) noexcept;
  void give_code(std::size_t index, cxltier_hint kind) noexcept;

  YieldingLock lock_;
  std::atomic<bool> table_known_{false};
  bool space_refused_ = false;
  TierSource source_ = nullptr;
  TierTable table_{};
  std::array<TierClass, classes_max> classes_{};
  std::array<std::atomic<std::uint8_t>, static_cast<std::size_t>(ClassKey::kinds)> by_key_{};
  std::atomic<unsigned> arenas_made_{0};
  std::atomic<unsigned> next_shard_{0};
};

}  // namespace cxltier::heap
