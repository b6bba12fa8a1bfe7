/* SPDX-License-Identifier: Apache-2.0
 *
 * The edges of the malloc family, one line of answers each.
 *
 * same_answers.sh runs it without and with the preload library: the expected values are glibc's
 * own. Each line says what came back and what errno was after it; errno is 77 before each call. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes that the compiler cannot know, so that it neither warns nor folds. */
static volatile size_t too_large = (size_t)PTRDIFF_MAX + 1;
static volatile size_t largest = SIZE_MAX;
static volatile size_t zero = 0;
static volatile size_t odd = 48;
static volatile size_t odd_and_large = 3000;

static int aligned_to(const void* block, size_t alignment) {
  return (uintptr_t)block % alignment == 0;
}

static void say(const char* what, const void* block, size_t alignment) {
  const int error = errno;
  printf("%-32s %s aligned=%d errno=%d\n", what, block == NULL ? "NULL" : "block",
         aligned_to(block, alignment), error);
}

#define SHOW(alignment, call)                                     \
  do {                                                            \
    errno = 77;                                                   \
    void* block = (call);                                         \
    say(#call, block, alignment);                                 \
    errno = 77;                                                   \
    free(block);                                                  \
    if (errno != 77) printf("free changed errno to %d\n", errno); \
  } while (0)

static void show_sizes(void) {
  SHOW(8, malloc(0));
  SHOW(8, malloc(1));
  SHOW(16, malloc(100000));
  SHOW(16, malloc(20000000));
  SHOW(1, malloc(too_large));
  SHOW(1, malloc(largest));
  SHOW(8, calloc(0, 8));
  SHOW(8, calloc(8, 0));
  SHOW(1, calloc(largest, 2));
  SHOW(1, calloc(largest / 2, 3));
  SHOW(1, calloc(too_large, 1));
  SHOW(8, realloc(NULL, 0));
  SHOW(1, realloc(NULL, too_large));
  SHOW(1, reallocarray(NULL, largest, 2));
  SHOW(8, reallocarray(NULL, 0, 8));
}

static void show_alignments(void) {
  SHOW(64, aligned_alloc(64, 100));
  SHOW(64, aligned_alloc(64, 0));
  SHOW(1024, aligned_alloc(1024, 0));
  SHOW(4096, aligned_alloc(4096, 1));
  SHOW(16, memalign(16, 8));
  SHOW(8, memalign(zero, 8));
  SHOW(8, memalign(1, 8));
  SHOW(64, memalign(odd, 96));
  SHOW(4096, memalign(odd_and_large, 10));
  SHOW(16777216, memalign(16777216, 10));
  SHOW(1, memalign(too_large + 1, 10));
  SHOW(1, memalign(64, largest));
  SHOW(1, memalign(64, too_large));
  SHOW(4096, valloc(10));
  SHOW(4096, valloc(0));
  SHOW(1, valloc(largest));
  SHOW(4096, pvalloc(10));
  SHOW(4096, pvalloc(0));
  SHOW(4096, pvalloc(4097));
  SHOW(1, pvalloc(largest));
  SHOW(1, pvalloc(largest - 4096));
  const char* version = gnu_get_libc_version();
  if (strcmp(version, "2.38") < 0) SHOW(64, aligned_alloc(odd, 96));
}

static void show_posix(size_t alignment, size_t size) {
  void* block = (void*)0x77;
  errno = 77;
  const int error = posix_memalign(&block, alignment, size);
  printf("posix_memalign(%zu, %zu) = %d, %s\n", alignment, size, error,
         error != 0 ? (block == (void*)0x77 ? "result untouched" : "result changed")
                    : (block != NULL && aligned_to(block, alignment) ? "block" : "bad"));
  if (error == 0) free(block);
}

static void show_reallocs(void) {
  char* block = malloc(100);
  strcpy(block, "kept");
  errno = 77;
  void* larger = realloc(block, too_large);
  say("realloc(block, too_large)", larger, 1);
  printf("block is %s\n", block);
  errno = 77;
  void* larger_array = reallocarray(block, largest, largest);
  say("reallocarray(block, overflow)", larger_array, 1);
  printf("block is %s\n", block);
  block = realloc(block, 5000000);
  printf("block is %s\n", block);
  block = realloc(block, 5);
  printf("block is %s\n", block);
  errno = 77;
  say("realloc(block, 0)", realloc(block, 0), 1);
  block = malloc(100);
  errno = 77;
  say("reallocarray(block, 0, 8)", reallocarray(block, 0, 8), 1);
}

int main(void) {
  show_sizes();
  show_alignments();
  show_posix(3, 10);
  show_posix(4, 10);
  show_posix(0, 10);
  show_posix(24, 10);
  show_posix(8, 0);
  show_posix(1024, 0);
  show_posix(4096, 0);
  show_posix(64, 100);
  show_posix(64, largest);
  show_posix(64, too_large);
  show_reallocs();
  errno = 77;
  free(NULL);
  printf("free(NULL) errno=%d, usable size of NULL %zu\n", errno, malloc_usable_size(NULL));
  printf("mallopt %d\n", mallopt(M_MMAP_THRESHOLD, 1 << 20));
  return 0;
}
