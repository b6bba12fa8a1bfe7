/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of cxltier/alloc.h as a table, by which libcxltier.so reaches the heap.
 *
 * The table only grows at its end; `size` says how far it reaches.  Semantics are those of the
 * functions of the same names. */
#pragma once

#include "cxltier/alloc.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cxltier_alloc_table {
  uint32_t size;
  void* (*allocate)(size_t size, cxltier_hint hint)CXLTIER_NOEXCEPT;
  void* (*allocate_zeroed)(size_t count, size_t size, cxltier_hint hint)CXLTIER_NOEXCEPT;
  void* (*allocate_aligned)(size_t alignment, size_t size, cxltier_hint hint)CXLTIER_NOEXCEPT;
  void* (*resize)(void* block, size_t size, cxltier_hint hint)CXLTIER_NOEXCEPT;
  int (*hint_nodes)(const uint64_t* nodes, size_t words, cxltier_hint* out) CXLTIER_NOEXCEPT;
  int (*hint_weights)(const uint32_t* weights, size_t count, cxltier_hint* out) CXLTIER_NOEXCEPT;
  int (*arena_create)(const char* name, cxltier_hint hint, cxltier_hint* out) CXLTIER_NOEXCEPT;
  int (*arena_destroy)(cxltier_hint arena) CXLTIER_NOEXCEPT;
  int (*arena_move)(cxltier_hint arena, cxltier_hint hint) CXLTIER_NOEXCEPT;
  int (*where)(const void* address, struct cxltier_place* out) CXLTIER_NOEXCEPT;
  int (*pin)(const void* begin, size_t size) CXLTIER_NOEXCEPT;
  int (*unpin)(const void* begin, size_t size) CXLTIER_NOEXCEPT;
  int (*tiers)(struct cxltier_tier* out, size_t count) CXLTIER_NOEXCEPT;
  int (*on_low_memory)(cxltier_low_memory callback, void* argument) CXLTIER_NOEXCEPT;
  int (*read_heap_statistics)(struct cxltier_heap_statistics* out) CXLTIER_NOEXCEPT;
};

#ifdef __cplusplus
}
#endif
