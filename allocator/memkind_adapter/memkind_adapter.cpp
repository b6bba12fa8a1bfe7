// SPDX-License-Identifier: Apache-2.0
//
// memkind's allocation functions, by hints where a kind has one, by memkind where it has not.
//
// The functions of memkind that are not here, and its kinds, come from libmemkind as ever.
#include <dlfcn.h>
#include <memkind.h>
#include <stdint.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "cxltier/alloc.h"
#include "cxltier/cxltier.h"

extern "C" {
// The core's, if it is there: tells whether an address is of its heap.
__attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_size,
                                  void* new_value, size_t new_size);
}

namespace {

// As memkind: 0 is no size.
bool is_size(size_t size) { return size > 0 && size <= SIZE_MAX / 2; }

bool has_core() {
  static const bool core = cxltier_tiers(nullptr, 0) >= 0;
  return core;
}

struct Meaning {
  memkind_t kind;
  cxltier_hint hint;
};

// The kinds are variables of libmemkind, so the table is made at run time.
std::optional<cxltier_hint> hint_of(memkind_t kind) {
  static const std::array meanings{
      Meaning{MEMKIND_DEFAULT, CXLTIER_DEFAULT},
      Meaning{MEMKIND_REGULAR, CXLTIER_LOCAL_ONLY},
      Meaning{MEMKIND_DAX_KMEM, CXLTIER_COLD},
      Meaning{MEMKIND_DAX_KMEM_ALL, CXLTIER_COLD},
      Meaning{MEMKIND_DAX_KMEM_PREFERRED, CXLTIER_COLD},
      Meaning{MEMKIND_DAX_KMEM_INTERLEAVE, CXLTIER_COLD},
      Meaning{MEMKIND_HIGHEST_CAPACITY, CXLTIER_CAPACITY},
      Meaning{MEMKIND_HIGHEST_CAPACITY_PREFERRED, CXLTIER_CAPACITY},
      Meaning{MEMKIND_HIGHEST_CAPACITY_LOCAL, CXLTIER_CAPACITY},
      Meaning{MEMKIND_HIGHEST_CAPACITY_LOCAL_PREFERRED, CXLTIER_CAPACITY},
      Meaning{MEMKIND_LOWEST_LATENCY_LOCAL, CXLTIER_HOT},
      Meaning{MEMKIND_LOWEST_LATENCY_LOCAL_PREFERRED, CXLTIER_HOT},
      Meaning{MEMKIND_HIGHEST_BANDWIDTH_LOCAL, CXLTIER_HOT},
      Meaning{MEMKIND_HIGHEST_BANDWIDTH_LOCAL_PREFERRED, CXLTIER_HOT},
      Meaning{MEMKIND_HBW, CXLTIER_HOT},
      Meaning{MEMKIND_HBW_ALL, CXLTIER_HOT},
      Meaning{MEMKIND_HBW_PREFERRED, CXLTIER_HOT},
      Meaning{MEMKIND_INTERLEAVE, CXLTIER_BANDWIDTH},
      Meaning{MEMKIND_HBW_INTERLEAVE, CXLTIER_BANDWIDTH}};
  if (!has_core()) return std::nullopt;
  for (const Meaning& meaning : meanings) {
    if (meaning.kind == kind) return meaning.hint;
  }
  return std::nullopt;
}

bool is_of_our_heap(const void* block) {
  unsigned arena = 0;
  size_t size = sizeof arena;
  return has_core() && &mallctl != nullptr &&
         mallctl("arenas.lookup", &arena, &size, &block, sizeof block) == 0;
}

template <typename Function>
Function memkinds_own(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CXLTIER_EXPORT extern "C" __attribute__((visibility("default")))
#define CXLTIER_MEMKINDS_OWN(function) memkinds_own<decltype(&function)>(#function)

CXLTIER_EXPORT void* memkind_malloc(memkind_t kind, size_t size) {
  const std::optional<cxltier_hint> hint = hint_of(kind);
  if (!hint) return CXLTIER_MEMKINDS_OWN(memkind_malloc)(kind, size);
  return is_size(size) ? cxltier_malloc(size, *hint) : nullptr;
}

CXLTIER_EXPORT void* memkind_calloc(memkind_t kind, size_t count, size_t size) {
  const std::optional<cxltier_hint> hint = hint_of(kind);
  if (!hint) return CXLTIER_MEMKINDS_OWN(memkind_calloc)(kind, count, size);
  return is_size(count) && is_size(size) ? cxltier_calloc(count, size, *hint) : nullptr;
}

CXLTIER_EXPORT int memkind_posix_memalign(memkind_t kind, void** result, size_t alignment,
                                          size_t size) {
  const std::optional<cxltier_hint> hint = hint_of(kind);
  if (!hint) return CXLTIER_MEMKINDS_OWN(memkind_posix_memalign)(kind, result, alignment, size);
  const bool valid = alignment >= sizeof(void*) && (alignment & (alignment - 1)) == 0;
  if (!valid) return EINVAL;
  if (!is_size(size)) {
    *result = nullptr;
    return 0;
  }
  const int errno_before = errno;
  void* const block = cxltier_aligned_alloc(alignment, size, *hint);
  errno = errno_before;
  *result = block;
  return block == nullptr ? ENOMEM : 0;
}

CXLTIER_EXPORT void* memkind_realloc(memkind_t kind, void* block, size_t size) {
  const std::optional<cxltier_hint> hint = hint_of(kind);
  const bool ours = hint || (kind == nullptr && block != nullptr && is_of_our_heap(block));
  if (!ours) return CXLTIER_MEMKINDS_OWN(memkind_realloc)(kind, block, size);
  if (size == 0) {
    cxltier_free(block);
    return nullptr;
  }
  // A block stays in its kind: memkind's realloc never changes it.
  return block == nullptr ? memkind_malloc(kind, size)
                          : cxltier_realloc(block, size, CXLTIER_DEFAULT);
}

CXLTIER_EXPORT void memkind_free(memkind_t kind, void* block) {
  if (block == nullptr) return;
  if (hint_of(kind) || (kind == nullptr && is_of_our_heap(block))) {
    cxltier_free(block);
  } else {
    CXLTIER_MEMKINDS_OWN(memkind_free)(kind, block);
  }
}

CXLTIER_EXPORT size_t memkind_malloc_usable_size(memkind_t kind, void* block) {
  if (hint_of(kind) || (kind == nullptr && block != nullptr && is_of_our_heap(block))) {
    return cxltier_usable_size(block);
  }
  return CXLTIER_MEMKINDS_OWN(memkind_malloc_usable_size)(kind, block);
}

CXLTIER_EXPORT memkind_t memkind_detect_kind(void* block) {
  if (block != nullptr && is_of_our_heap(block)) return MEMKIND_DEFAULT;
  return CXLTIER_MEMKINDS_OWN(memkind_detect_kind)(block);
}

// A hint always has a heap behind it.
CXLTIER_EXPORT int memkind_check_available(memkind_t kind) {
  return hint_of(kind) ? 0 : CXLTIER_MEMKINDS_OWN(memkind_check_available)(kind);
}
