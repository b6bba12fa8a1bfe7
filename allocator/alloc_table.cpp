// SPDX-License-Identifier: Apache-2.0
//
// cxltier/alloc.h on the tier heap: arguments are checked here, and nowhere below.
#include "cxltier/alloc_table.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "allocator/heap_state.h"
#include "allocator/numa_pages.h"
#include "allocator/pin_table.h"
#include "cxltier/tier_heap.hpp"

namespace cxltier::heap {
namespace {

constinit PinTable pins;
constinit std::atomic<FreeBytes> free_bytes_of{nullptr};

// Sizes that the public structures have had start at these; larger ones than `size_largest` are no
// sizes but memory that was never set.
constexpr std::uint32_t place_size_first = 48;
constexpr std::uint32_t tier_size_first = 160;
constexpr std::uint32_t statistics_size_first = 96;
constexpr std::uint32_t size_largest = 4096;
static_assert(sizeof(cxltier_place) == place_size_first);
static_assert(sizeof(cxltier_tier) == tier_size_first);
static_assert(sizeof(cxltier_heap_statistics) == statistics_size_first);

bool is_size(std::uint32_t size, std::uint32_t first) noexcept {
  return size >= first && size <= size_largest;
}

// Fills what the caller knows of `known`; what only the caller knows is 0.
template <typename Structure>
void give(Structure& known, Structure* out, std::uint32_t size) noexcept {
  known.size = size;
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &known, size < sizeof known ? size : sizeof known);
}

void* allocate(std::size_t size, cxltier_hint hint) noexcept {
  return tier_heap.allocate(hint, {.size = size});
}

void* allocate_zeroed(std::size_t count, std::size_t size, cxltier_hint hint) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return tier_heap.allocate(hint, {.size = bytes, .zeroed = true});
}

void* allocate_aligned(std::size_t alignment, std::size_t size, cxltier_hint hint) noexcept {
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return tier_heap.allocate(hint, {.size = size, .alignment = alignment});
}

void* resize(void* block, std::size_t size, cxltier_hint hint) noexcept {
  return tier_heap.resize_with_hint(block, size, hint);
}

int hint_nodes(const std::uint64_t* nodes, std::size_t words, cxltier_hint* out) noexcept {
  Placement placement{Binding::prefer, {}};
  if (nodes == nullptr || out == nullptr || words == 0 || words > placement.nodes.words.size()) {
    return -EINVAL;
  }
  std::memcpy(placement.nodes.words.data(), nodes, words * sizeof *nodes);
  if (placement.nodes == NodeMask{}) return -EINVAL;
  tier_heap.classes().table();
  const std::size_t index = tier_heap.classes().make_for_nodes(placement);
  if (index == TierClasses::none) return -ENOSPC;
  *out = tier_heap.classes().class_at(index).code.load();
  return 0;
}

int hint_weights(const std::uint32_t* weights, std::size_t count, cxltier_hint* out) noexcept {
  TierHeap::Weights table{};
  if (weights == nullptr || out == nullptr || count > table.size()) return -EINVAL;
  std::memcpy(table.data(), weights, count * sizeof *weights);
  return -tier_heap.add_weights(table, *out);
}

int arena_create(const char* name, cxltier_hint hint, cxltier_hint* out) noexcept {
  if (name == nullptr || out == nullptr) return -EINVAL;
  if (std::strlen(name) >= TierClass::name_max) return -EINVAL;
  Placement placement;
  if (const int error = tier_heap.placement_of(hint, placement); error != 0) return -error;
  const std::size_t index = tier_heap.classes().make_named(std::string_view(name), placement);
  if (index == TierClasses::none) return -ENOSPC;
  *out = tier_heap.classes().class_at(index).code.load();
  return 0;
}

int arena_destroy(cxltier_hint arena) noexcept { return -tier_heap.classes().destroy_named(arena); }

int arena_move(cxltier_hint arena, cxltier_hint hint) noexcept {
  Placement placement;
  if (const int error = tier_heap.placement_of(hint, placement); error != 0) return -error;
  return -tier_heap.classes().move_named(arena, placement);
}

std::int32_t tier_of_node(const TierTable& table, int node) noexcept {
  if (node < 0) return -1;
  const auto at = static_cast<std::size_t>(node);
  for (std::size_t tier = 0; tier < table.tier_count; ++tier) {
    if ((table.tiers[tier].nodes.words[at / 64] >> (at % 64) & 1) != 0) {
      return static_cast<std::int32_t>(tier);
    }
  }
  return -1;
}

// The kernel is asked only where the calls of this kind are known to be allowed.
int where(const void* address, cxltier_place* out) noexcept {
  if (out == nullptr || !is_size(out->size, place_size_first)) return -EINVAL;
  const TierTable& table = tier_heap.classes().table();
  cxltier_place place{};
  place.node = table.moving_permitted ? node_of_page(address) : -1;
  if (place.node < 0) place.node = -1;
  place.tier = tier_of_node(table, place.node);
  const std::size_t index = tier_heap.class_of_block(address);
  if (index != TierClasses::none && tier_heap.classes().is_ready(index)) {
    const TierClass& of = tier_heap.classes().class_at(index);
    place.hint = tier_heap.hint_of(index);
    std::memcpy(place.arena, of.name.data(), sizeof place.arena);
  }
  give(place, out, out->size);
  return 0;
}

int pin(const void* begin, std::size_t size) noexcept {
  if (size == 0) return -EINVAL;
  return -pins.add(begin, size, tier_heap.classes().table());
}

int unpin(const void* begin, std::size_t size) noexcept {
  if (size == 0) return -EINVAL;
  return -pins.remove(begin, size, tier_heap.classes().table());
}

int tiers(cxltier_tier* out, std::size_t count) noexcept {
  if (count > 0 && (out == nullptr || !is_size(out->size, tier_size_first))) return -EINVAL;
  const TierTable& table = tier_heap.classes().table();
  const std::uint32_t size = count > 0 ? out->size : 0;
  const FreeBytes ask = free_bytes_of.load();
  std::array<std::uint64_t, tiers_max> free_bytes{};
  if (ask != nullptr && count > 0) ask(free_bytes);
  for (std::size_t i = 0; i < table.tier_count && i < count; ++i) {
    const Tier& from = table.tiers[i];
    cxltier_tier tier{};
    tier.is_dram = from.dram ? 1 : 0;
    std::memcpy(tier.nodes, from.nodes.words.data(), sizeof tier.nodes);
    tier.size_bytes = from.size_bytes;
    tier.free_bytes = free_bytes[i];
    tier.latency_ns = from.latency_ns;
    tier.bandwidth_mbps = from.bandwidth_mbps;
    // Elements are as far apart as the caller's version of the structure is long.
    give(tier, reinterpret_cast<cxltier_tier*>(reinterpret_cast<char*>(out) + i * size), size);
  }
  return static_cast<int>(table.tier_count);
}

int on_low_memory(cxltier_low_memory callback, void* argument) noexcept {
  tier_heap.set_low_memory(callback, argument);
  return 0;
}

int read_heap_statistics(cxltier_heap_statistics* out) noexcept {
  if (out == nullptr || !is_size(out->size, statistics_size_first)) return -EINVAL;
  cxltier_heap_statistics known{};
  tier_heap.read_statistics(known);
  give(known, out, out->size);
  return 0;
}

}  // namespace

const cxltier_alloc_table alloc_table{
    .size = sizeof(cxltier_alloc_table),
    .allocate = allocate,
    .allocate_zeroed = allocate_zeroed,
    .allocate_aligned = allocate_aligned,
    .resize = resize,
    .hint_nodes = hint_nodes,
    .hint_weights = hint_weights,
    .arena_create = arena_create,
    .arena_destroy = arena_destroy,
    .arena_move = arena_move,
    .where = where,
    .pin = pin,
    .unpin = unpin,
    .tiers = tiers,
    .on_low_memory = on_low_memory,
    .read_heap_statistics = read_heap_statistics,
};

void set_tier_source(TierSource source) noexcept { tier_heap.classes().set_source(source); }

void set_free_bytes_source(FreeBytes source) noexcept { free_bytes_of.store(source); }

void place_large_blocks(const LargeBlocks& large) noexcept { tier_heap.place_large(large); }

std::size_t copy_pinned_ranges(Range* out, std::size_t count) noexcept {
  return pins.copy(out, count);
}

void hold_pins() noexcept { pins.lock().acquire(); }

void let_go_of_pins() noexcept { pins.lock().release(); }

}  // namespace cxltier::heap
