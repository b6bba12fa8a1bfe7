/* SPDX-License-Identifier: Apache-2.0
 *
 * Every function that makes a block, with every function that may legally end its life.
 *
 * A name that stayed with glibc would show as a crash in the other heap's free, or as a block of
 * which jemalloc's statistics know nothing; the addresses tell directly. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/preload/expect.h"

typedef void* (*OneSize)(size_t);
typedef void* (*TwoSizes)(size_t, size_t);
typedef void* (*Resize)(void*, size_t);
typedef void (*Release)(void*);
typedef void (*ReleaseSized)(void*, size_t);
typedef void (*ReleaseAligned)(void*, size_t, size_t);
typedef int (*Posix)(void**, size_t, size_t);
typedef void* (*Mallocx)(size_t, int);
typedef void (*Dallocx)(void*, int);
typedef void (*Sdallocx)(void*, size_t, int);
typedef int (*Mallctl)(const char*, void*, size_t*, void*, size_t);

/* By name at run time: half of the names are in no header of any libc. */
static void* named(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) {
    fprintf(stderr, "no function %s\n", name);
    exit(1);
  }
  return function;
}

#define CALL(type, name) ((type)named(name))

enum { makers = 20, enders = 16 };

static void* make(int maker, size_t size) {
  void* block = NULL;
  switch (maker) {
    case 0:
      return CALL(OneSize, "malloc")(size);
    case 1:
      return CALL(TwoSizes, "calloc")(1, size);
    case 2:
      return CALL(Resize, "realloc")(NULL, size);
    case 3:
      return CALL(TwoSizes, "memalign")(256, size);
    case 4:
      return CALL(TwoSizes, "aligned_alloc")(256, size);
    case 5:
      return CALL(Posix, "posix_memalign")(&block, 256, size) == 0 ? block : NULL;
    case 6:
      return CALL(OneSize, "valloc")(size);
    case 7:
      return CALL(OneSize, "pvalloc")(size);
    case 8:
      return reallocarray(NULL, 1, size);
    case 9:
      return CALL(OneSize, "__libc_malloc")(size);
    case 10:
      return CALL(TwoSizes, "__libc_calloc")(1, size);
    case 11:
      return CALL(Resize, "__libc_realloc")(NULL, size);
    case 12:
      return CALL(TwoSizes, "__libc_memalign")(256, size);
    case 13:
      return CALL(OneSize, "__libc_valloc")(size);
    case 14:
      return CALL(OneSize, "__libc_pvalloc")(size);
    case 15:
      return CALL(Posix, "__posix_memalign")(&block, 256, size) == 0 ? block : NULL;
    case 16:
      return CALL(Mallocx, "mallocx")(size, 0);
    case 17:
      return CALL(OneSize, "_Znwm")(size);
    case 18:
      return CALL(OneSize, "_Znam")(size);
    default:
      return CALL(TwoSizes, "_ZnwmSt11align_val_t")(size, 256);
  }
}

static void end(int ender, void* block, size_t size) {
  switch (ender) {
    case 0:
      CALL(Release, "free")(block);
      return;
    case 1:
      CALL(Release, "cfree")(block);
      return;
    case 2:
      CALL(Release, "__libc_free")(block);
      return;
    case 3:
      EXPECT(CALL(Resize, "realloc")(block, 0) == NULL);
      return;
    case 4:
      CALL(Release, "free")(CALL(Resize, "realloc")(block, size * 3 + 1));
      return;
    case 5:
      CALL(Release, "free")(CALL(Resize, "__libc_realloc")(block, size / 2 + 1));
      return;
    case 6:
      CALL(ReleaseSized, "free_sized")(block, size);
      return;
    case 7:
      CALL(ReleaseAligned, "free_aligned_sized")(block, 256, size);
      return;
    case 8:
      CALL(Dallocx, "dallocx")(block, 0);
      return;
    case 9:
      CALL(Release, "_ZdlPv")(block);
      return;
    case 10:
      CALL(Release, "_ZdaPv")(block);
      return;
    case 11:
      CALL(ReleaseSized, "_ZdlPvm")(block, size);
      return;
    case 12:
      CALL(ReleaseSized, "_ZdlPvSt11align_val_t")(block, 256);
      return;
    case 13:
      CALL(ReleaseAligned, "_ZdlPvmSt11align_val_t")(block, size, 256);
      return;
    case 14:
      CALL(ReleaseAligned, "_ZdaPvmSt11align_val_t")(block, size, 256);
      return;
    default:
      free(reallocarray(block, 2, size + 1));
      return;
  }
}

static size_t statistic(const char* name) {
  uint64_t epoch = 1;
  size_t value = 0;
  size_t length = sizeof value;
  EXPECT(CALL(Mallctl, "mallctl")("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
  EXPECT(CALL(Mallctl, "mallctl")(name, &value, &length, NULL, 0) == 0);
  return value;
}

/* Large enough that no thread cache hides it from the statistics. */
static void every_maker_uses_this_heap(void) {
  const size_t size = 3u << 20;
  for (int maker = 0; maker < makers; ++maker) {
    const size_t before = statistic("stats.allocated");
    void* block = make(maker, size);
    EXPECT(statistic("stats.allocated") >= before + size);
    free(block);
    EXPECT(statistic("stats.allocated") == before);
  }
}

static void every_pair_works(void) {
  static const size_t sizes[] = {0, 1, 8, 24, 100, 1000, 5000, 40000, 3000000};
  for (int maker = 0; maker < makers; ++maker) {
    for (int ender = 0; ender < enders; ++ender) {
      for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        if (maker == 16 && sizes[i] == 0) continue; /* mallocx(0) is undefined */
        unsigned char* block = make(maker, sizes[i]);
        EXPECT(block != NULL);
        EXPECT(malloc_usable_size(block) >= sizes[i]);
        memset(block, 0xa5, sizes[i]);
        end(ender, block, sizes[i]);
      }
    }
  }
}

static void whole_pages(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* block = CALL(OneSize, "pvalloc")(page + 1);
  EXPECT(malloc_usable_size(block) >= 2 * page);
  EXPECT((uintptr_t)block % page == 0);
  free(block);
}

/* glibc before 2.38 answers so; later ones refuse. */
static void any_alignment_is_rounded_up(void) {
  errno = 77;
  void* block = CALL(TwoSizes, "aligned_alloc")(48, 96);
  EXPECT(block != NULL && (uintptr_t)block % 64 == 0 && errno == 77);
  free(block);
}

static void calloc_clears_reused_memory(void) {
  for (size_t size = 8; size < (4u << 20); size *= 3) {
    void* dirty = malloc(size);
    memset(dirty, 0xff, size);
    free(dirty);
    unsigned char* clean = calloc(1, size);
    size_t i = 0;
    while (i < size && clean[i] == 0) ++i;
    EXPECT(i == size);
    free(clean);
  }
}

static void statistics_describe_this_heap(void) {
  const size_t size = 64u << 20;
  void* block = malloc(size);
  memset(block, 1, size);
  const struct mallinfo2 with = mallinfo2();
  EXPECT(with.uordblks >= size && with.arena >= with.uordblks);
  free(block);
  EXPECT(mallinfo2().uordblks <= with.uordblks - size);
  EXPECT(malloc_trim(0) == 1);
  EXPECT(statistic("stats.resident") < size);

  char* text = NULL;
  size_t length = 0;
  FILE* stream = open_memstream(&text, &length);
  EXPECT(malloc_info(0, stream) == 0);
  EXPECT(malloc_info(1, stream) == EINVAL);
  fclose(stream);
  EXPECT(strstr(text, "<malloc version=") == text);
  EXPECT(strstr(text, "</malloc>") != NULL);
  free(text);
}

static void jemalloc_interface(void) {
  void* block = CALL(Mallocx, "mallocx")(1000, 6 /* aligned to 64 */);
  EXPECT((uintptr_t)block % 64 == 0);
  const size_t usable = ((size_t(*)(const void*, int))named("sallocx"))(block, 0);
  EXPECT(usable >= 1000);
  EXPECT(usable == ((size_t(*)(size_t, int))named("nallocx"))(1000, 6));
  EXPECT(((size_t(*)(void*, size_t, size_t, int))named("xallocx"))(block, 1000, 0, 0) >= 1000);
  block = ((void* (*)(void*, size_t, int))named("rallocx"))(block, 100000, 6);
  CALL(Sdallocx, "sdallocx")(block, 100000, 6);

  size_t mib[8];
  size_t mib_length = 8;
  EXPECT(((int (*)(const char*, size_t*, size_t*))named("mallctlnametomib"))("stats.allocated", mib,
                                                                             &mib_length) == 0);
  size_t value = 0;
  size_t length = sizeof value;
  EXPECT(((int (*)(const size_t*, size_t, void*, size_t*, void*, size_t))named("mallctlbymib"))(
             mib, mib_length, &value, &length, NULL, 0) == 0);
  EXPECT(value > 0);
}

static int lookup(void* address) {
  unsigned arena = 0;
  size_t length = sizeof arena;
  return CALL(Mallctl, "mallctl")("arenas.lookup", &arena, &length, &address, sizeof address);
}

/* jemalloc 5.3.0 follows a null pointer for addresses that are not the heap's. */
static void lookup_of_foreign_addresses_is_refused(void) {
  int on_stack = 0;
  void* block = malloc(100);
  EXPECT(lookup(block) == 0);
  EXPECT(lookup(&on_stack) == EINVAL);
  EXPECT(lookup((void*)lookup) == EINVAL);
  EXPECT(lookup((void*)0x123456789000) == EINVAL);
  EXPECT(lookup(NULL) == EINVAL);
  free(block);
}

static char message[4096];

static void keep_message(void* argument, const char* text) {
  (void)argument;
  strncat(message, text, sizeof message - strlen(message) - 1);
}

static void the_message_hook_is_called(void) {
  *(void (**)(void*, const char*))named("malloc_message") = keep_message;
  malloc_stats();
  EXPECT(strstr(message, "jemalloc statistics") != NULL);
  EXPECT(named("malloc_conf") != NULL);
}

int main(void) {
  every_maker_uses_this_heap();
  every_pair_works();
  whole_pages();
  any_alignment_is_rounded_up();
  calloc_clears_reused_memory();
  statistics_describe_this_heap();
  jemalloc_interface();
  lookup_of_foreign_addresses_is_refused();
  the_message_hook_is_called();
  return finish();
}
