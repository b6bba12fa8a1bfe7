// SPDX-License-Identifier: Apache-2.0
//
// Blocks with a hint: which class serves it, and what happens where none can.
//
//   hint --> class --> arena of this thread --> block in the class's slot
//              |            |
//              |            `-- no memory: the program's low-memory callback, then as below
//              `-- no tiers, no permission, no class left: counted, and malloc serves;
//                  a strict hint gets NULL instead
//
// Blocks of a class never pass through a thread's cache: jemalloc's would hand them to the next
// malloc of the same size, whatever its class.  So free() must know them, by their addresses.
//
// Everything here is the slow way, outside of all locks.  On success errno is untouched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "allocator/tier_classes.h"
#include "cxltier/alloc.h"

namespace cxltier::heap {

struct Request {
  std::size_t size = 0;
  std::size_t alignment = 0;  // 0: malloc's own
  bool zeroed = false;
};

class TierHeap {
 public:
  static constexpr std::size_t weight_tables_max = 16;
  using Weights = std::array<std::uint32_t, tiers_max>;

  // nullptr with errno: ENOMEM, EPERM (strict, and no promise), EINVAL (no such hint).
  void* allocate(cxltier_hint hint, const Request& request) noexcept;
  // pre: tier_space.contains(block) for these three
  void release(void* block) noexcept;
  // As realloc: stays in its class while that has room.
  void* resize(void* block, std::size_t size) noexcept;
  [[nodiscard]] std::size_t class_of_block(const void* block) const noexcept;

  // As cxltier_realloc; `block` may be any of this heap, or null.
  void* resize_with_hint(void* block, std::size_t size, cxltier_hint hint) noexcept;

  // An unhinted block of at least growth_watch.large_from() bytes; nullptr: none of our business.
  void* allocate_large(const Request& request) noexcept;
  void place_large(const LargeBlocks& large) noexcept;

  // 0 or an errno.
  int add_weights(const Weights& weights, cxltier_hint& out) noexcept;
  // The hint that means a class.  pre: the class is ready
  [[nodiscard]] cxltier_hint hint_of(std::size_t index) noexcept;
  int placement_of(cxltier_hint hint, Placement& out) noexcept;

  void set_low_memory(cxltier_low_memory callback, void* argument) noexcept;
  [[nodiscard]] TierClasses& classes() noexcept { return classes_; }
  void read_statistics(cxltier_heap_statistics& out) noexcept;
  void hold_for_fork() noexcept {
    weights_lock_.acquire();
    classes_.lock().acquire();
  }
  void let_go_after_fork() noexcept {
    classes_.lock().release();
    weights_lock_.release();
  }

 private:
  enum class Demand : std::uint8_t { wish, strict };  // strict: takes nothing else

  // Where a hint leads: a class; or no class, because it wants none or because it cannot have one.
  struct Route {
    std::size_t index = TierClasses::none;
    bool wish = true;  // the hint asked for something
    Demand demand = Demand::wish;
    int error = 0;  // no such hint
  };

  Route route_of(cxltier_hint hint) noexcept;
  Route route_to_dram() noexcept;
  std::size_t class_of_tier(std::size_t tier) noexcept;
  std::size_t class_of_weights(const Weights& weights) noexcept;
  void* allocate_in(std::size_t index, const Request& request) noexcept;
  void* fall_back(const Request& request, Demand demand) noexcept;
  bool ask_for_memory(cxltier_hint hint, std::size_t size) noexcept;
  void* move_block(void* block, std::size_t size, cxltier_hint hint) noexcept;

  TierClasses classes_;
  YieldingLock weights_lock_;
  std::array<Weights, weight_tables_max> weights_{};
  std::atomic<std::size_t> weights_used_{0};
  Weights large_weights_{};
  std::atomic<cxltier_low_memory> low_memory_{nullptr};
  std::atomic<void*> low_memory_argument_{nullptr};
  std::atomic<std::uint64_t> unmet_{0};
  std::atomic<std::uint64_t> strict_failures_{0};
};

}  // namespace cxltier::heap
