/* SPDX-License-Identifier: Apache-2.0
 *
 * Random calls of the malloc family, with every answer that a program could see.
 *
 *   random_calls SEED CALLS
 *
 * same_answers.sh runs it without and with the preload library, so the expected values are glibc's.
 * Addresses are no answers; whether there is a block, how it is aligned, what errno is, and what is
 * in the memory are.  A line each hundred calls keeps the output small; it holds a hash of all
 * answers so far, and the kinds of call since the last one, so that a difference can be looked for.
 *
 * Left out is what glibc itself answers differently from release to release, and what depends on
 * free memory: sizes between 64 MiB and 128 TiB, the end of the addresses.  jemalloc reserves what
 * the kernel need not keep free; glibc asks for memory that the kernel may refuse. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { slots = 256, call_kinds = 14 };

struct Block {
  unsigned char* bytes;
  size_t size;
  unsigned char fill;
};

static struct Block blocks[slots];
static uint64_t random_state;
static uint64_t answers = 1469598103934665603u;

static uint64_t next_random(void) { /* xorshift64*, Marsaglia 2003, Vigna 2016 */
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 2685821657736338717u;
}

static void answer(uint64_t value) { answers = (answers ^ value) * 1099511628211u; }

/* Of all magnitudes, and the edges more often than chance would have them. */
static size_t random_size(void) {
  static const size_t edges[] = {0,
                                 1,
                                 7,
                                 8,
                                 9,
                                 15,
                                 16,
                                 17,
                                 4095,
                                 4096,
                                 4097,
                                 14336,
                                 14337,
                                 32768,
                                 32769,
                                 262144,
                                 262145,
                                 (size_t)PTRDIFF_MAX,
                                 (size_t)PTRDIFF_MAX + 1,
                                 SIZE_MAX - 4096,
                                 SIZE_MAX - 1,
                                 SIZE_MAX,
                                 (size_t)1 << 47};
  const uint64_t r = next_random();
  if (r % 8 == 0) return edges[(r >> 8) % (sizeof edges / sizeof edges[0])];
  const unsigned bits = (unsigned)((r >> 8) % (r % 64 == 1 ? 26 : 16));
  return (r >> 16) & (((size_t)2 << bits) - 1);
}

static size_t random_alignment(void) {
  const uint64_t r = next_random();
  if (r % 32 == 0) return (r >> 8) % 5000;
  return (size_t)1 << ((r >> 8) % 17);
}

static int depends_on_free_memory(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return 0;
  return bytes > (size_t)64 << 20 && bytes < (size_t)128 << 40;
}

static void check(const struct Block* block) {
  size_t wrong = 0;
  for (size_t i = 0; i < block->size; ++i) wrong += block->bytes[i] != block->fill;
  answer(wrong);
}

static void keep(struct Block* block, void* bytes, size_t size) {
  answer(bytes != NULL);
  answer((uint64_t)errno);
  block->bytes = bytes;
  block->size = bytes == NULL ? 0 : size;
  block->fill = (unsigned char)next_random();
  if (bytes == NULL) return;
  answer(malloc_usable_size(bytes) >= size);
  memset(bytes, block->fill, size);
}

static void allocate(struct Block* block, unsigned kind) {
  const size_t size = random_size();
  const size_t alignment = random_alignment();
  void* bytes = NULL;
  errno = 77;
  switch (kind) {
    case 0:
      bytes = calloc(size, 1);
      for (size_t i = 0; bytes != NULL && i < size; ++i) answer(((unsigned char*)bytes)[i]);
      break;
    case 1:
      if (depends_on_free_memory(size, size)) return;
      bytes = calloc(size, size);
      keep(block, bytes, 0);
      return;
    case 2:
      bytes = memalign(alignment, size);
      /* glibc rounds the alignment up, and 0 means its own. */
      answer(bytes != NULL && alignment > 0 && (alignment & (alignment - 1)) == 0 &&
             (uintptr_t)bytes % alignment == 0);
      break;
    case 3:
      bytes = (void*)0x77;
      answer((uint64_t)posix_memalign(&bytes, alignment, size));
      if (bytes == (void*)0x77) bytes = NULL;
      answer(bytes != NULL && (uintptr_t)bytes % alignment == 0);
      break;
    case 4:
      if ((alignment & (alignment - 1)) != 0 || alignment == 0) break;
      bytes = aligned_alloc(alignment, size);
      answer(bytes != NULL && (uintptr_t)bytes % alignment == 0);
      break;
    case 5:
      bytes = valloc(size);
      answer((uintptr_t)bytes % (uintptr_t)sysconf(_SC_PAGESIZE));
      break;
    case 6:
      bytes = reallocarray(NULL, size, 1);
      break;
    default:
      bytes = malloc(size);
      break;
  }
  keep(block, bytes, size);
}

static void resize(struct Block* block, int as_array) {
  const size_t size = random_size();
  const size_t kept = size < block->size ? size : block->size;
  errno = 77;
  void* bytes = as_array ? reallocarray(block->bytes, 1, size) : realloc(block->bytes, size);
  answer(bytes != NULL);
  answer((uint64_t)errno);
  if (bytes == NULL && size != 0) { /* the old block is as it was */
    check(block);
    return;
  }
  const struct Block old = {.bytes = bytes, .size = bytes == NULL ? 0 : kept, .fill = block->fill};
  check(&old);
  keep(block, bytes, size);
}

static void release(struct Block* block) {
  check(block);
  errno = 77;
  free(block->bytes);
  answer((uint64_t)errno);
  *block = (struct Block){0};
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  random_state = strtoull(argv[1], NULL, 10) * 2 + 1;
  const long calls = atol(argv[2]);
  char kinds[101] = {0};
  for (long i = 0; i < calls; ++i) {
    struct Block* block = &blocks[next_random() % slots];
    const unsigned kind = (unsigned)(next_random() % call_kinds);
    kinds[i % 100] = (char)('a' + kind);
    if (block->bytes == NULL) {
      allocate(block, kind);
    } else if (kind < 4) {
      resize(block, kind == 0);
    } else {
      release(block);
    }
    if (i % 100 == 99) printf("%ld %016llx %s\n", i, (unsigned long long)answers, kinds);
  }
  for (int i = 0; i < slots; ++i) release(&blocks[i]);
  printf("seed %s: %016llx\n", argv[1], (unsigned long long)answers);
  return 0;
}
