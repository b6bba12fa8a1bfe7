// SPDX-License-Identifier: Apache-2.0
//
// Allocation, resizing and freeing of hinted blocks.
#include "allocator/tier_heap.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"

namespace cxltier::heap {
namespace {

constexpr cxltier_hint code_weights = 0x100;

int flags_of(const Request& request) noexcept {
  int flags = flag_no_tcache;
  if (request.alignment > 1) flags |= flag_alignment(request.alignment);
  if (request.zeroed) flags |= flag_zero;
  return flags;
}

void* plain_allocate(const Request& request) noexcept {
  const std::size_t size = request.size == 0 ? 1 : request.size;
  void* block = nullptr;
  if (request.alignment > 1) {
    block = cxltier_je_memalign(request.alignment, size);
    if (block != nullptr && request.zeroed) std::memset(block, 0, size);
  } else {
    block = request.zeroed ? cxltier_je_calloc(1, size) : cxltier_je_malloc(size);
  }
  if (block == nullptr) errno = ENOMEM;
  return block;
}

std::int64_t usable(const void* block) noexcept {
  return static_cast<std::int64_t>(cxltier_je_sallocx(block, 0));
}

bool any(const TierHeap::Weights& weights) noexcept {
  return std::any_of(weights.begin(), weights.end(), [](std::uint32_t w) { return w != 0; });
}

NodeMask nodes_of_dram(const TierTable& table, bool& all_dram) noexcept {
  NodeMask nodes{};
  all_dram = table.tier_count > 0;
  for (std::size_t tier = 0; tier < table.tier_count; ++tier) {
    if (!table.tiers[tier].dram) {
      all_dram = false;
      continue;
    }
    for (std::size_t i = 0; i < nodes.words.size(); ++i) {
      nodes.words[i] |= table.tiers[tier].nodes.words[i];
    }
  }
  return nodes;
}

NodeMask nodes_of_all(const TierTable& table) noexcept {
  NodeMask nodes{};
  for (std::size_t tier = 0; tier < table.tier_count; ++tier) {
    for (std::size_t i = 0; i < nodes.words.size(); ++i) {
      nodes.words[i] |= table.tiers[tier].nodes.words[i];
    }
  }
  return nodes;
}

// pre: tier_count > 0
std::size_t largest_tier(const TierTable& table) noexcept {
  std::size_t largest = 0;
  for (std::size_t tier = 1; tier < table.tier_count; ++tier) {
    if (table.tiers[tier].size_bytes >= table.tiers[largest].size_bytes) largest = tier;
  }
  return largest;
}

}  // namespace

// Hints for tiers need two of them, and the right to bind: without, malloc serves as well.
TierHeap::Route TierHeap::route_of(cxltier_hint hint) noexcept {
  if (hint == CXLTIER_DEFAULT) return {.wish = false};
  if (hint == CXLTIER_LOCAL_ONLY) return route_to_dram();
  if (hint > CXLTIER_LOCAL_ONLY && (hint & code_weights) == 0) {
    const std::size_t index = classes_.class_of_code(hint);
    if (index == TierClasses::none) return {.error = EINVAL};
    // A block from elsewhere would not be freed with its arena.
    return {.index = index, .demand = classes_.is_named(index) ? Demand::strict : Demand::wish};
  }
  const TierTable& table = classes_.table();
  const std::size_t table_at = hint & (weight_tables_max - 1);
  const bool weighted = (hint & code_weights) != 0;
  if (weighted && table_at >= weights_used_.load(std::memory_order_acquire)) {
    return {.error = EINVAL};
  }
  if (table.tier_count < 2 || !table.binding_permitted) return {};
  if (weighted) return {.index = class_of_weights(weights_[table_at])};
  switch (hint) {
    case CXLTIER_HOT:
      return {.index = class_of_tier(0)};
    case CXLTIER_COLD:
      return {.index = class_of_tier(table.tier_count - 1)};
    case CXLTIER_CAPACITY:
      return {.index = class_of_tier(largest_tier(table))};
    default:
      break;
  }
  return {.index =
              classes_.class_of(ClassKey::bandwidth, {Binding::interleave, nodes_of_all(table)})};
}

// Where there is nothing but DRAM any memory will do.
TierHeap::Route TierHeap::route_to_dram() noexcept {
  const TierTable& table = classes_.table();
  bool all_dram = false;
  const NodeMask nodes = nodes_of_dram(table, all_dram);
  if (all_dram) return {.wish = false};
  if (!table.binding_permitted || nodes == NodeMask{}) return {.demand = Demand::strict};
  return {.index = classes_.class_of(ClassKey::local_only, {Binding::strict, nodes}),
          .demand = Demand::strict};
}

std::size_t TierHeap::class_of_tier(std::size_t tier) noexcept {
  return classes_.class_of(static_cast<ClassKey>(tier),
                           {Binding::prefer, classes_.table().tiers[tier].nodes});
}

// The tier whose bytes are furthest behind its weight; by cross multiplication, a / v < b / w.
std::size_t TierHeap::class_of_weights(const Weights& weights) noexcept {
  std::size_t chosen = TierClasses::none;
  std::uint64_t chosen_bytes = 0;
  std::uint64_t chosen_weight = 1;
  for (std::size_t tier = 0; tier < classes_.table().tier_count; ++tier) {
    if (weights[tier] == 0) continue;
    const std::size_t index = class_of_tier(tier);
    if (index == TierClasses::none) continue;
    const std::int64_t live = classes_.class_at(index).live_bytes.load(std::memory_order_relaxed);
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(live, 0));
    if (chosen == TierClasses::none || bytes * chosen_weight < chosen_bytes * weights[tier]) {
      chosen = index;
      chosen_bytes = bytes;
      chosen_weight = weights[tier];
    }
  }
  return chosen;
}

void* TierHeap::allocate(cxltier_hint hint, const Request& request) noexcept {
  const Route route = route_of(hint);
  if (route.error != 0) {
    errno = route.error;
    return nullptr;
  }
  if (!route.wish) return plain_allocate(request);
  if (route.index == TierClasses::none) {
    if (route.demand == Demand::strict) errno = EPERM;
    return fall_back(request, route.demand);
  }
  void* block = allocate_in(route.index, request);
  if (block == nullptr && ask_for_memory(hint, request.size)) {
    block = allocate_in(route.index, request);
  }
  if (block != nullptr) return block;
  if (route.demand == Demand::strict) errno = ENOMEM;
  return fall_back(request, route.demand);
}

// Only a block inside the slot counts: in the last destructors of a dying thread jemalloc takes
// arena 0, whatever it is told.
void* TierHeap::allocate_in(std::size_t index, const Request& request) noexcept {
  const unsigned arena = classes_.arena_of(index);
  if (arena == 0 || request.size > PTRDIFF_MAX) return nullptr;
  void* const block = cxltier_je_mallocx(request.size == 0 ? 1 : request.size,
                                         flags_of(request) | flag_arena(arena - 1));
  if (block == nullptr) return nullptr;
  if (class_of_block(block) != index) {
    cxltier_je_dallocx(block, flag_no_tcache);
    return nullptr;
  }
  classes_.class_at(index).live_bytes.fetch_add(usable(block), std::memory_order_relaxed);
  return block;
}

// pre: if strict, errno is set
void* TierHeap::fall_back(const Request& request, Demand demand) noexcept {
  if (demand == Demand::strict) {
    strict_failures_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  unmet_.fetch_add(1, std::memory_order_relaxed);
  return plain_allocate(request);
}

bool TierHeap::ask_for_memory(cxltier_hint hint, std::size_t size) noexcept {
  const cxltier_low_memory callback = low_memory_.load(std::memory_order_acquire);
  return callback != nullptr && callback(low_memory_argument_.load(), hint, size) == 1;
}

std::size_t TierHeap::class_of_block(const void* block) const noexcept {
  return tier_space.contains(block) ? tier_space.slot_of(block) : TierClasses::none;
}

void TierHeap::release(void* block) noexcept {
  classes_.class_at(tier_space.slot_of(block))
      .live_bytes.fetch_sub(usable(block), std::memory_order_relaxed);
  cxltier_je_dallocx(block, flag_no_tcache);
}

// A strict class never lets jemalloc choose another arena: it grows in place or by a copy of ours.
void* TierHeap::resize(void* block, std::size_t size) noexcept {
  if (size == 0) {
    release(block);
    return nullptr;
  }
  TierClass& own = classes_.class_at(tier_space.slot_of(block));
  const std::int64_t before = usable(block);
  if (size <= PTRDIFF_MAX && cxltier_je_xallocx(block, size, 0, flag_no_tcache) >= size) {
    own.live_bytes.fetch_add(usable(block) - before, std::memory_order_relaxed);
    return block;
  }
  void* larger = allocate_in(tier_space.slot_of(block), {.size = size});
  if (larger == nullptr) {
    const bool strict =
        own.placement.binding == Binding::strict || classes_.is_named(tier_space.slot_of(block));
    if (strict) errno = ENOMEM;
    larger = fall_back({.size = size}, strict ? Demand::strict : Demand::wish);
  }
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, std::min(static_cast<std::size_t>(before), size));
  release(block);
  return larger;
}

void* TierHeap::resize_with_hint(void* block, std::size_t size, cxltier_hint hint) noexcept {
  if (block == nullptr) return allocate(hint, {.size = size});
  const Route route = route_of(hint);
  if (route.error != 0) {
    errno = route.error;
    return nullptr;
  }
  const bool stays = size == 0 || !route.wish || class_of_block(block) == route.index;
  if (!stays) return move_block(block, size, hint);
  if (tier_space.contains(block)) return resize(block, size);
  void* const resized = cxltier_je_realloc(block, size);
  if (resized == nullptr && size != 0) errno = ENOMEM;
  return resized;
}

void* TierHeap::move_block(void* block, std::size_t size, cxltier_hint hint) noexcept {
  void* const moved = allocate(hint, {.size = size});
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(cxltier_je_sallocx(block, 0), size));
  if (tier_space.contains(block)) {
    release(block);
  } else {
    cxltier_je_free(block);
  }
  return moved;
}

void* TierHeap::allocate_large(const Request& request) noexcept {
  if (!any(large_weights_)) return nullptr;
  const std::size_t index = class_of_weights(large_weights_);
  return index == TierClasses::none ? nullptr : allocate_in(index, request);
}

void TierHeap::place_large(const LargeBlocks& large) noexcept {
  growth_watch.set_large_from(SIZE_MAX);
  const TierTable& table = classes_.table();
  if (table.tier_count < 2 || !table.binding_permitted) return;
  Weights weights = large.weights;
  weights[table.tier_count - 1] += large.slowest_weight;
  if (!any(weights)) return;
  large_weights_ = weights;
  growth_watch.set_large_from(large.bytes_min);
}

int TierHeap::add_weights(const Weights& weights, cxltier_hint& out) noexcept {
  if (!any(weights)) return EINVAL;
  const std::size_t tiers = std::max<std::size_t>(classes_.table().tier_count, 1);
  if (std::any_of(weights.begin() + static_cast<std::ptrdiff_t>(tiers), weights.end(),
                  [](std::uint32_t w) { return w != 0; })) {
    return EINVAL;
  }
  const LockHeld held(weights_lock_);
  const std::size_t at = weights_used_.load();
  if (at >= weight_tables_max) return ENOSPC;
  weights_[at] = weights;
  weights_used_.store(at + 1, std::memory_order_release);
  out = code_weights | static_cast<cxltier_hint>(at);
  return 0;
}

// For arenas and pins: where a hint says, as a policy.  Without two tiers, wherever.
int TierHeap::placement_of(cxltier_hint hint, Placement& out) noexcept {
  const TierTable& table = classes_.table();
  if (hint > CXLTIER_LOCAL_ONLY) {
    const std::size_t index = classes_.class_of_code(hint);
    if (index == TierClasses::none || classes_.is_named(index)) return EINVAL;
    out = classes_.class_at(index).placement;
    return 0;
  }
  if (hint == CXLTIER_LOCAL_ONLY) return EINVAL;
  out = {};
  if (hint == CXLTIER_DEFAULT || table.tier_count < 2) return 0;
  if (hint == CXLTIER_BANDWIDTH) {
    out = {Binding::interleave, nodes_of_all(table)};
    return 0;
  }
  std::size_t tier = 0;
  if (hint == CXLTIER_COLD) tier = table.tier_count - 1;
  if (hint == CXLTIER_CAPACITY) tier = largest_tier(table);
  out = {Binding::prefer, table.tiers[tier].nodes};
  return 0;
}

cxltier_hint TierHeap::hint_of(std::size_t index) noexcept {
  const TierClass& of = classes_.class_at(index);
  if (const cxltier_hint code = of.code.load(); code != 0) return code;
  if (of.placement.binding == Binding::strict) return CXLTIER_LOCAL_ONLY;
  if (of.placement.binding == Binding::interleave) return CXLTIER_BANDWIDTH;
  const int tier = of.tier.load();
  if (tier == 0) return CXLTIER_HOT;
  const bool last = tier + 1 == static_cast<int>(classes_.table().tier_count);
  return last ? CXLTIER_COLD : CXLTIER_CAPACITY;
}

void TierHeap::set_low_memory(cxltier_low_memory callback, void* argument) noexcept {
  low_memory_.store(nullptr, std::memory_order_release);
  low_memory_argument_.store(argument);
  low_memory_.store(callback, std::memory_order_release);
}

void TierHeap::read_statistics(cxltier_heap_statistics& out) noexcept {
  for (std::size_t i = 0; i < TierClasses::classes_max; ++i) {
    const TierClass& one = classes_.class_at(i);
    if (one.state.load(std::memory_order_acquire) != TierClass::State::ready) continue;
    const std::int64_t live = one.live_bytes.load(std::memory_order_relaxed);
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(live, 0));
    ++out.classes;
    out.hinted_bytes += bytes;
    if (const int tier = one.tier.load(); tier >= 0) out.tier_bytes[tier] += bytes;
  }
  out.hints_unmet = unmet_.load(std::memory_order_relaxed);
  out.strict_failures = strict_failures_.load(std::memory_order_relaxed);
}

}  // namespace cxltier::heap
