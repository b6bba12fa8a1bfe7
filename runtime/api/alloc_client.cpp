// SPDX-License-Identifier: Apache-2.0
//
// libcxltier.so: cxltier/alloc.h, by the core's table where it is, by plain malloc where it is not.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include <cstddef>

#include "cxltier/alloc_table.h"
#include "runtime/api/core_table.h"

extern "C" {
extern __attribute__((weak)) const cxltier::CoreTable cxltier_core_1;
}

namespace {

// The core's functions, if it has them up to the one at `offset`.
const cxltier_alloc_table* core_with(std::size_t offset) noexcept {
  const cxltier::CoreTable* const core = &cxltier_core_1;
  constexpr std::size_t reach = offsetof(cxltier::CoreTable, alloc) + sizeof core->alloc;
  if (core == nullptr || core->version != 1 || core->size < reach) return nullptr;
  const cxltier_alloc_table* const table = core->alloc;
  return table != nullptr && table->size >= offset + sizeof(void*) ? table : nullptr;
}

// What a hint must be even where there is nobody to follow it.
bool is_hint(cxltier_hint hint) noexcept { return hint <= CXLTIER_LOCAL_ONLY; }

void* refuse(int error) noexcept {
  errno = error;
  return nullptr;
}

// Without the core nothing is known of the machine, so nothing strict can be promised.
bool may_serve(cxltier_hint hint) noexcept {
  if (is_hint(hint) && hint != CXLTIER_LOCAL_ONLY) return true;
  errno = is_hint(hint) ? EPERM : EINVAL;
  return false;
}

}  // namespace

#define CXLTIER_EXPORT extern "C" __attribute__((visibility("default")))
#define CXLTIER_CORE_WITH(function) core_with(offsetof(cxltier_alloc_table, function))

CXLTIER_EXPORT void* cxltier_malloc(size_t size, cxltier_hint hint) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(allocate);
  if (core != nullptr) return core->allocate(size, hint);
  return may_serve(hint) ? malloc(size) : nullptr;
}

CXLTIER_EXPORT void* cxltier_calloc(size_t count, size_t size, cxltier_hint hint) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(allocate_zeroed);
  if (core != nullptr) return core->allocate_zeroed(count, size, hint);
  return may_serve(hint) ? calloc(count, size) : nullptr;
}

CXLTIER_EXPORT void* cxltier_aligned_alloc(size_t alignment, size_t size,
                                           cxltier_hint hint) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(allocate_aligned);
  if (core != nullptr) return core->allocate_aligned(alignment, size, hint);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return refuse(EINVAL);
  return may_serve(hint) ? memalign(alignment, size) : nullptr;
}

CXLTIER_EXPORT void* cxltier_realloc(void* block, size_t size, cxltier_hint hint) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(resize);
  if (core != nullptr) return core->resize(block, size, hint);
  return may_serve(hint) ? realloc(block, size) : nullptr;
}

CXLTIER_EXPORT void cxltier_free(void* block) noexcept { free(block); }

CXLTIER_EXPORT size_t cxltier_usable_size(void* block) noexcept {
  return malloc_usable_size(block);
}

CXLTIER_EXPORT int cxltier_hint_nodes(const uint64_t* nodes, size_t words,
                                      cxltier_hint* out) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(hint_nodes);
  return core != nullptr ? core->hint_nodes(nodes, words, out) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_hint_weights(const uint32_t* weights, size_t count,
                                        cxltier_hint* out) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(hint_weights);
  return core != nullptr ? core->hint_weights(weights, count, out) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_arena_create(const char* name, cxltier_hint hint,
                                        cxltier_hint* out) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(arena_create);
  return core != nullptr ? core->arena_create(name, hint, out) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_arena_destroy(cxltier_hint arena) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(arena_destroy);
  return core != nullptr ? core->arena_destroy(arena) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_arena_move(cxltier_hint arena, cxltier_hint hint) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(arena_move);
  return core != nullptr ? core->arena_move(arena, hint) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_where(const void* address, struct cxltier_place* out) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(where);
  return core != nullptr ? core->where(address, out) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_pin(const void* begin, size_t size) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(pin);
  return core != nullptr ? core->pin(begin, size) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_unpin(const void* begin, size_t size) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(unpin);
  return core != nullptr ? core->unpin(begin, size) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_tiers(struct cxltier_tier* out, size_t count) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(tiers);
  return core != nullptr ? core->tiers(out, count) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_on_low_memory(cxltier_low_memory callback, void* argument) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(on_low_memory);
  return core != nullptr ? core->on_low_memory(callback, argument) : -ENOSYS;
}

CXLTIER_EXPORT int cxltier_read_heap_statistics(struct cxltier_heap_statistics* out) noexcept {
  const auto* const core = CXLTIER_CORE_WITH(read_heap_statistics);
  return core != nullptr ? core->read_heap_statistics(out) : -ENOSYS;
}
