// SPDX-License-Identifier: Apache-2.0
//
// jemalloc's own interface, for programs that link libjemalloc and ask it about their heap.
//
// Redis, for one, imports mallctl: were it left to libjemalloc.so.2, its statistics and its
// purge command would concern a heap that nobody uses.
#include "allocator/entry_point.h"
#include "allocator/jemalloc.h"

// The variables of the interface.  malloc_message is honoured (jemalloc_start.cpp); an application
// that was linked with libjemalloc may hold its own copy of it.  malloc_conf is there to be linked
// with and is not read: options that were chosen for another build of jemalloc are not ours.
CXLTIER_ENTRY void (*malloc_message)(void*, const char*);
CXLTIER_ENTRY const char* malloc_conf;
void (*malloc_message)(void*, const char*) = nullptr;
const char* malloc_conf = nullptr;

CXLTIER_ENTRY void* mallocx(std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void* mallocx(std::size_t size, int flags) noexcept {
  return cxltier_je_mallocx(size, flags);
}

CXLTIER_ENTRY void* rallocx(void* block, std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void* rallocx(void* block, std::size_t size, int flags) noexcept {
  return cxltier_je_rallocx(block, size, flags);
}

CXLTIER_ENTRY std::size_t xallocx(void* block, std::size_t size, std::size_t extra,
                                  int flags) noexcept;
CXLTIER_ENTRY std::size_t xallocx(void* block, std::size_t size, std::size_t extra,
                                  int flags) noexcept {
  return cxltier_je_xallocx(block, size, extra, flags);
}

CXLTIER_ENTRY std::size_t sallocx(const void* block, int flags) noexcept;
CXLTIER_ENTRY std::size_t sallocx(const void* block, int flags) noexcept {
  return cxltier_je_sallocx(block, flags);
}

CXLTIER_ENTRY void dallocx(void* block, int flags) noexcept;
CXLTIER_ENTRY void dallocx(void* block, int flags) noexcept { cxltier_je_dallocx(block, flags); }

CXLTIER_ENTRY void sdallocx(void* block, std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void sdallocx(void* block, std::size_t size, int flags) noexcept {
  cxltier_je_sdallocx(block, size, flags);
}

CXLTIER_ENTRY std::size_t nallocx(std::size_t size, int flags) noexcept;
CXLTIER_ENTRY std::size_t nallocx(std::size_t size, int flags) noexcept {
  return cxltier_je_nallocx(size, flags);
}

CXLTIER_ENTRY int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                          std::size_t new_size) noexcept;
CXLTIER_ENTRY int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                          std::size_t new_size) noexcept {
  return cxltier_je_mallctl(name, old_value, old_size, new_value, new_size);
}

CXLTIER_ENTRY int mallctlnametomib(const char* name, std::size_t* mib,
                                   std::size_t* length) noexcept;
CXLTIER_ENTRY int mallctlnametomib(const char* name, std::size_t* mib,
                                   std::size_t* length) noexcept {
  return cxltier_je_mallctlnametomib(name, mib, length);
}

CXLTIER_ENTRY int mallctlbymib(const std::size_t* mib, std::size_t length, void* old_value,
                               std::size_t* old_size, void* new_value,
                               std::size_t new_size) noexcept;
CXLTIER_ENTRY int mallctlbymib(const std::size_t* mib, std::size_t length, void* old_value,
                               std::size_t* old_size, void* new_value,
                               std::size_t new_size) noexcept {
  return cxltier_je_mallctlbymib(mib, length, old_value, old_size, new_value, new_size);
}

CXLTIER_ENTRY void malloc_stats_print(void (*write)(void*, const char*), void* argument,
                                      const char* options) noexcept;
CXLTIER_ENTRY void malloc_stats_print(void (*write)(void*, const char*), void* argument,
                                      const char* options) noexcept {
  cxltier_je_malloc_stats_print(write, argument, options);
}
