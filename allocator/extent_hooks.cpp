// SPDX-License-Identifier: Apache-2.0
//
// The hooks; see extent_hooks.h.
#include "allocator/extent_hooks.h"

#include <type_traits>

#include "allocator/heap_state.h"
#include "allocator/pages.h"

namespace cxltier::heap {
namespace {

using Hooks = JemallocExtentHooks;

static_assert(std::is_standard_layout_v<SlotHooks>);
std::size_t slot_of_hooks(Hooks* hooks) noexcept {
  return reinterpret_cast<SlotHooks*>(hooks)->slot;  // hooks is its first member
}

}  // namespace

extern "C" {

static void* take_extent(Hooks* hooks, void* wanted, std::size_t size, std::size_t alignment,
                         bool* zero, bool* commit, unsigned /*arena*/) noexcept {
  if (wanted != nullptr) return nullptr;
  void* const extent = tier_space.take(slot_of_hooks(hooks), size, alignment);
  if (extent == nullptr) return nullptr;
  *zero = true;
  *commit = true;
  return extent;
}

static bool refuse_to_deallocate(Hooks* /*hooks*/, void* /*address*/, std::size_t /*size*/,
                                 bool /*committed*/, unsigned /*arena*/) noexcept {
  return true;
}

static void forget_extent(Hooks* /*hooks*/, void* /*address*/, std::size_t /*size*/,
                          bool /*committed*/, unsigned /*arena*/) noexcept {}

static bool purge(Hooks* /*hooks*/, void* address, std::size_t /*size*/, std::size_t offset,
                  std::size_t length, unsigned /*arena*/) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address) + offset;
  return !discard_pages({begin, begin + length});
}

static bool allow_split(Hooks* /*hooks*/, void* /*address*/, std::size_t /*size*/,
                        std::size_t /*size_a*/, std::size_t /*size_b*/, bool /*committed*/,
                        unsigned /*arena*/) noexcept {
  return false;
}

static bool allow_merge(Hooks* /*hooks*/, void* /*address_a*/, std::size_t /*size_a*/,
                        void* /*address_b*/, std::size_t /*size_b*/, bool /*committed*/,
                        unsigned /*arena*/) noexcept {
  return false;  // both are of one arena, so of one slot
}

}  // extern "C"

SlotHooks hooks_of_slot(std::size_t slot) noexcept {
  return {.hooks = {.alloc = take_extent,
                    .dalloc = refuse_to_deallocate,
                    .destroy = forget_extent,
                    .commit = nullptr,
                    .decommit = nullptr,
                    .purge_lazy = nullptr,
                    .purge_forced = purge,
                    .split = allow_split,
                    .merge = allow_merge},
          .slot = slot};
}

}  // namespace cxltier::heap
