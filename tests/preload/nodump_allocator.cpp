// SPDX-License-Identifier: Apache-2.0
//
// What RocksDB's JemallocNodumpAllocator does: it links libjemalloc, makes an arena of its own,
// gives it extent hooks that call jemalloc's and keep the memory out of core files, and allocates
// there through a cache of its own.  All of it must be this heap's.
#include <jemalloc/jemalloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/preload/expect.h"

static extent_alloc_t* original_alloc;
static unsigned long extents;
static uintptr_t lowest = UINTPTR_MAX;
static uintptr_t highest;

extern "C" {

static void* allocate_without_dump(extent_hooks_t* hooks, void* wanted, size_t size,
                                   size_t alignment, bool* zero, bool* commit, unsigned arena) {
  void* extent = original_alloc(hooks, wanted, size, alignment, zero, commit, arena);
  if (extent == nullptr) return nullptr;
  EXPECT(madvise(extent, size, MADV_DONTDUMP) == 0);
  ++extents;
  if ((uintptr_t)extent < lowest) lowest = (uintptr_t)extent;
  if ((uintptr_t)extent + size > highest) highest = (uintptr_t)extent + size;
  return extent;
}

}  // extern "C"

static unsigned arena_of(void* block) {
  unsigned arena = 0;
  size_t size = sizeof arena;
  EXPECT(mallctl("arenas.lookup", &arena, &size, &block, sizeof block) == 0);
  return arena;
}

int main(void) {
  unsigned arena = 0;
  size_t size = sizeof arena;
  EXPECT(mallctl("arenas.create", &arena, &size, nullptr, 0) == 0);
  char name[64];
  snprintf(name, sizeof name, "arena.%u.extent_hooks", arena);
  extent_hooks_t* hooks = nullptr;
  size = sizeof hooks;
  EXPECT(mallctl(name, &hooks, &size, nullptr, 0) == 0 && hooks != nullptr);
  original_alloc = hooks->alloc;
  static extent_hooks_t own_hooks;
  own_hooks = *hooks;
  own_hooks.alloc = allocate_without_dump;
  extent_hooks_t* new_hooks = &own_hooks;
  EXPECT(mallctl(name, nullptr, nullptr, &new_hooks, sizeof new_hooks) == 0);
  unsigned cache = 0;
  size = sizeof cache;
  EXPECT(mallctl("tcache.create", &cache, &size, nullptr, 0) == 0);

  const int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE(cache);
  char* blocks[2000];
  for (size_t i = 0; i < 2000; ++i) {
    blocks[i] = static_cast<char*>(mallocx(1 + i * 37 % 60000, flags));
    EXPECT(blocks[i] != nullptr && arena_of(blocks[i]) == arena);
    EXPECT((uintptr_t)blocks[i] >= lowest && (uintptr_t)blocks[i] < highest);
    memset(blocks[i], 1, 1 + i * 37 % 60000);
  }
  EXPECT(extents > 0);
  for (size_t i = 0; i < 2000; ++i) dallocx(blocks[i], MALLOCX_TCACHE(cache));
  EXPECT(mallctl("tcache.destroy", nullptr, nullptr, &cache, sizeof cache) == 0);
  snprintf(name, sizeof name, "arena.%u.destroy", arena);
  EXPECT(mallctl(name, nullptr, nullptr, nullptr, 0) == 0);
  free(malloc(100));
  return finish();
}
