// SPDX-License-Identifier: Apache-2.0
//
// A tracer as many are: it takes the place of mmap, munmap and open, finds the real ones by dlsym,
// and allocates while it does so.  An allocator that called mmap or open by name while it starts
// would wait for itself.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

namespace {

template <typename Function>
Function real(const char* name) {
  void* volatile scratch = malloc(64);
  free(scratch);
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* mmap(void* address, size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  return real<decltype(&mmap)>("mmap")(address, size, protection, flags, descriptor, offset);
}

int munmap(void* address, size_t size) noexcept {
  return real<decltype(&munmap)>("munmap")(address, size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return real<decltype(&open)>("open")(path, flags, mode);
}

}  // extern "C"
