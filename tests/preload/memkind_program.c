/* SPDX-License-Identifier: Apache-2.0
 *
 * A program written to memkind, on our heap: its blocks are there, keep their bytes, and may be
 * freed with and without their kind. */
#include <errno.h>
#include <memkind.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/preload/expect.h"

int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size);

static int is_of_our_heap(void* block) {
  unsigned arena = 0;
  size_t size = sizeof arena;
  return mallctl("arenas.lookup", &arena, &size, &block, sizeof block) == 0;
}

static void use(memkind_t kind) {
  EXPECT(memkind_check_available(kind) == 0);
  for (size_t size = 1; size < 3000000; size = size * 7 + 1) {
    char* block = memkind_malloc(kind, size);
    EXPECT(block != NULL && is_of_our_heap(block));
    EXPECT(memkind_malloc_usable_size(kind, block) >= size);
    memset(block, 7, size);
    block = memkind_realloc(kind, block, 2 * size);
    EXPECT(block[0] == 7 && block[size - 1] == 7);
    memkind_free(size % 2 == 0 ? kind : NULL, block);
    block = memkind_calloc(kind, size, 2);
    EXPECT(block[0] == 0 && block[2 * size - 1] == 0);
    EXPECT(memkind_realloc(kind, block, 0) == NULL);
  }
  void* block = NULL;
  EXPECT(memkind_posix_memalign(kind, &block, 4096, 100) == 0 && (uintptr_t)block % 4096 == 0);
  free(block); /* one heap */
  EXPECT(memkind_posix_memalign(kind, &block, 3, 100) == EINVAL);
  EXPECT(memkind_malloc(kind, 0) == NULL);
  EXPECT(memkind_malloc(kind, SIZE_MAX) == NULL);
  memkind_free(kind, NULL);
}

int main(void) {
  use(MEMKIND_DEFAULT);
  use(MEMKIND_REGULAR);
  use(MEMKIND_DAX_KMEM);
  use(MEMKIND_HIGHEST_CAPACITY);
  use(MEMKIND_LOWEST_LATENCY_LOCAL);
  use(MEMKIND_INTERLEAVE);

  /* A kind of the program's own stays memkind's. */
  memkind_t file = NULL;
  if (memkind_create_pmem("/tmp", MEMKIND_PMEM_MIN_SIZE, &file) == MEMKIND_SUCCESS) {
    char* block = memkind_malloc(file, 1000);
    EXPECT(block != NULL && !is_of_our_heap(block));
    memset(block, 1, 1000);
    memkind_free(file, block);
    block = memkind_malloc(file, 1000);
    memkind_free(NULL, block);
    memkind_destroy_kind(file);
  }
  return finish();
}
