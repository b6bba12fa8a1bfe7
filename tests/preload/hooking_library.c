/* SPDX-License-Identifier: Apache-2.0
 *
 * A tracer as many are: it takes the place of mmap, munmap and open, finds the real ones by dlsym,
 * and allocates while it does so.  An allocator that called mmap or open by name while it starts
 * would wait for itself. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

static unsigned long calls;

static void* real(const char* name) {
  ++calls;
  void* volatile scratch = malloc(64);
  free(scratch);
  return dlsym(RTLD_NEXT, name);
}

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  void* (*next)(void*, size_t, int, int, int, off_t) =
      (void* (*)(void*, size_t, int, int, int, off_t))real("mmap");
  return next(address, size, protection, flags, descriptor, offset);
}

int munmap(void* address, size_t size) {
  int (*next)(void*, size_t) = (int (*)(void*, size_t))real("munmap");
  return next(address, size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))real("open");
  return next(path, flags, mode);
}
