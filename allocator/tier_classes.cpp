// SPDX-License-Identifier: Apache-2.0
//
// Making, moving and destroying classes.  All of it is seldom.
#include "allocator/tier_classes.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"
#include "allocator/numa_pages.h"

namespace cxltier::heap {
namespace {

using State = TierClass::State;

// Codes: kind, number of the class, and how often it was given out, so that an old hint of a
// destroyed arena is refused.
constexpr cxltier_hint code_nodes = 0x200;
constexpr cxltier_hint code_named = 0x400;
constexpr cxltier_hint code_class_mask = TierClasses::classes_max - 1;
constexpr unsigned generation_shift = 16;

// jemalloc grows what it asks for by powers of two; no class shall take more than this at once.
constexpr std::size_t growth_max = std::size_t{64} << 20;

// "NAME.<arena>.REST" with its number filled in.  Returns jemalloc's error.
int control_arena(const char* name, unsigned arena, void* value, std::size_t size) noexcept {
  std::array<std::size_t, 4> mib{};
  std::size_t length = mib.size();
  if (const int error = cxltier_je_mallctlnametomib(name, mib.data(), &length); error != 0) {
    return error;
  }
  mib[1] = arena;
  return cxltier_je_mallctlbymib(mib.data(), length, nullptr, nullptr, value, size);
}

// The arena of this thread, as a number that only spreads threads over shards.
thread_local std::uint32_t shard_of_thread __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

void YieldingLock::acquire() noexcept {
  while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
}

const TierTable& TierClasses::table() noexcept {
  if (table_known_.load(std::memory_order_acquire)) return table_;
  const LockHeld held(lock_);
  if (!table_known_.load(std::memory_order_relaxed)) {
    if (source_ != nullptr) source_(table_);
    table_known_.store(true, std::memory_order_release);
  }
  return table_;
}

std::size_t TierClasses::class_of(ClassKey key, const Placement& placement) noexcept {
  std::atomic<std::uint8_t>& known = by_key_[static_cast<std::size_t>(key)];
  if (const std::uint8_t index = known.load(std::memory_order_acquire); index != 0) {
    return index - 1u;
  }
  const LockHeld held(lock_);
  if (const std::uint8_t index = known.load(std::memory_order_relaxed); index != 0) {
    return index - 1u;
  }
  const unsigned shards = std::clamp(table_.cpu_count, 1u, TierClass::shards_max);
  const std::size_t index = make(placement, shards);
  if (index != none) known.store(static_cast<std::uint8_t>(index + 1), std::memory_order_release);
  return index;
}

std::size_t TierClasses::make_for_nodes(const Placement& placement) noexcept {
  const LockHeld held(lock_);
  for (std::size_t i = 0; i < classes_max; ++i) {
    const bool for_nodes = (classes_[i].code.load() & code_nodes) != 0;
    if (for_nodes && classes_[i].state.load() == State::ready &&
        classes_[i].placement == placement) {
      return i;
    }
  }
  const std::size_t index = make(placement, 1);
  if (index != none) give_code(index, code_nodes);
  return index;
}

std::size_t TierClasses::make_named(std::string_view name, const Placement& placement) noexcept {
  const LockHeld held(lock_);
  const std::size_t index = make(placement, 1);
  if (index == none) return none;
  TierClass& made = classes_[index];
  made.name = {};
  std::copy(name.begin(), name.begin() + std::min(name.size(), made.name.size() - 1),
            made.name.begin());
  give_code(index, code_named);
  return index;
}

void TierClasses::give_code(std::size_t index, cxltier_hint kind) noexcept {
  TierClass& made = classes_[index];
  ++made.generation;
  made.code.store((cxltier_hint{made.generation} << generation_shift) | kind |
                  static_cast<cxltier_hint>(index));
}

std::size_t TierClasses::class_of_code(cxltier_hint code) const noexcept {
  if ((code & (code_nodes | code_named)) == 0) return none;
  const std::size_t index = code & code_class_mask;
  const TierClass& named = classes_[index];
  const bool current = named.state.load(std::memory_order_acquire) == State::ready &&
                       named.code.load(std::memory_order_relaxed) == code;
  return current ? index : none;
}

bool TierClasses::is_named(std::size_t index) const noexcept {
  return (classes_[index].code.load() & code_named) != 0;
}

// pre: the lock is held
bool TierClasses::prepare_space() noexcept {
  if (tier_space.end() != 0) return true;
  if (space_refused_) return false;
  space_refused_ = !tier_space.reserve(table_.memory_bytes);
  return !space_refused_;
}

// pre: the lock is held
std::size_t TierClasses::make(const Placement& placement, unsigned shards) noexcept {
  const auto* const empty = std::find_if(classes_.begin(), classes_.end(), [](const TierClass& c) {
    return c.state.load() == State::empty;
  });
  if (empty == classes_.end() || !prepare_space()) return none;
  const auto index = static_cast<std::size_t>(empty - classes_.begin());
  TierClass& made = classes_[index];
  made.state.store(State::making);
  made.hooks = hooks_of_slot(index);
  made.shards = shards;
  const bool bound = bind(index, placement) || placement.binding != Binding::strict;
  if (bound && made.arenas[0].load() == 0) made.arenas[0].store(make_arena(made));
  const bool works = bound && made.arenas[0].load() != 0;
  made.state.store(works ? State::ready : State::empty, std::memory_order_release);
  return works ? index : none;
}

// pre: the lock is held.  Where a wish is refused the class has addresses of its own and no more.
bool TierClasses::bind(std::size_t index, const Placement& placement) noexcept {
  TierClass& bound = classes_[index];
  bound.placement = placement;
  bound.tier.store(tier_of(placement));
  return table_.binding_permitted && bind_pages(tier_space.addresses_of(index), placement);
}

std::int8_t TierClasses::tier_of(const Placement& placement) const noexcept {
  if (placement.binding != Binding::prefer) return -1;
  for (std::size_t tier = 0; tier < table_.tier_count; ++tier) {
    if (table_.tiers[tier].nodes == placement.nodes) return static_cast<std::int8_t>(tier);
  }
  return -1;
}

// jemalloc's index + 1, or 0.  jemalloc's own bookkeeping stays in ordinary memory, off slow tiers.
unsigned TierClasses::make_arena(TierClass& tier_class) noexcept {
  if (arenas_made_.fetch_add(1) >= arenas_max) {
    arenas_made_.fetch_sub(1);
    return 0;
  }
  JemallocArenaConfig config{&tier_class.hooks.hooks, false};
  unsigned arena = 0;
  std::size_t size = sizeof arena;
  if (cxltier_je_mallctl("experimental.arenas_create_ext", &arena, &size, &config, sizeof config) !=
      0) {
    arenas_made_.fetch_sub(1);
    return 0;
  }
  std::size_t growth = growth_max;
  control_arena("arena.0.retain_grow_limit", arena, &growth, sizeof growth);
  return arena + 1;
}

unsigned TierClasses::arena_of(std::size_t at) noexcept {
  TierClass& of = classes_[at];
  if (of.shards == 1) return of.arenas[0].load(std::memory_order_relaxed);
  if (shard_of_thread == 0) shard_of_thread = next_shard_.fetch_add(1) + 1;
  std::atomic<unsigned>& shard = of.arenas[shard_of_thread % of.shards];
  if (const unsigned arena = shard.load(std::memory_order_acquire); arena != 0) return arena;
  const LockHeld held(lock_);
  if (shard.load(std::memory_order_relaxed) == 0) {
    const unsigned made = make_arena(of);
    // No more arenas: this shard is the first one's.
    shard.store(made != 0 ? made : of.arenas[0].load(), std::memory_order_release);
  }
  return shard.load(std::memory_order_relaxed);
}

int TierClasses::destroy_named(cxltier_hint code) noexcept {
  const LockHeld held(lock_);
  const std::size_t index = class_of_code(code);
  if (index == none || !is_named(index)) return EINVAL;
  TierClass& destroyed = classes_[index];
  destroyed.state.store(State::making);
  const unsigned arena = destroyed.arenas[0].load() - 1;
  if (control_arena("arena.0.destroy", arena, nullptr, 0) != 0) {
    destroyed.state.store(State::broken);  // its addresses stay jemalloc's
    return EINVAL;
  }
  arenas_made_.fetch_sub(1);
  destroyed.arenas[0].store(0);
  destroyed.code.store(0);
  destroyed.live_bytes.store(0);
  destroyed.name = {};
  tier_space.reset(index);
  destroyed.state.store(State::empty, std::memory_order_release);
  return 0;
}

int TierClasses::move_named(cxltier_hint code, const Placement& placement) noexcept {
  std::size_t index = none;
  {
    const LockHeld held(lock_);
    index = class_of_code(code);
    if (index == none || !is_named(index)) return EINVAL;
    if (!table_.binding_permitted) return EPERM;
    bind(index, placement);
  }
  return move_pages_to(tier_space.used_part_of(index), placement);
}

}  // namespace cxltier::heap
