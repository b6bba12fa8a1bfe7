// SPDX-License-Identifier: Apache-2.0
//
// The embedded jemalloc under its private names; rename_jemalloc.sh gives it these.
//
// Semantics are those of jemalloc 5.3.0's manual for the name without the prefix.  Hidden
// visibility makes each call a direct jump.
#pragma once

#include <cstddef>
#include <cstdint>

// jemalloc's extent_hooks_t: where an arena's memory comes from.  A function that answers bool says
// true for a refusal; a null one refuses always.  They run inside the arena's locks.
struct JemallocExtentHooks {
  void* (*alloc)(JemallocExtentHooks*, void* wanted, std::size_t size, std::size_t alignment,
                 bool* zero, bool* commit, unsigned arena);
  bool (*dalloc)(JemallocExtentHooks*, void* address, std::size_t size, bool committed,
                 unsigned arena);
  void (*destroy)(JemallocExtentHooks*, void* address, std::size_t size, bool committed,
                  unsigned arena);
  bool (*commit)(JemallocExtentHooks*, void* address, std::size_t size, std::size_t offset,
                 std::size_t length, unsigned arena);
  bool (*decommit)(JemallocExtentHooks*, void* address, std::size_t size, std::size_t offset,
                   std::size_t length, unsigned arena);
  bool (*purge_lazy)(JemallocExtentHooks*, void* address, std::size_t size, std::size_t offset,
                     std::size_t length, unsigned arena);
  bool (*purge_forced)(JemallocExtentHooks*, void* address, std::size_t size, std::size_t offset,
                       std::size_t length, unsigned arena);
  bool (*split)(JemallocExtentHooks*, void* address, std::size_t size, std::size_t size_a,
                std::size_t size_b, bool committed, unsigned arena);
  bool (*merge)(JemallocExtentHooks*, void* address_a, std::size_t size_a, void* address_b,
                std::size_t size_b, bool committed, unsigned arena);
};

// jemalloc's arena_config_t, argument of experimental.arenas_create_ext.
struct JemallocArenaConfig {
  JemallocExtentHooks* hooks;
  bool metadata_use_hooks;
};

#pragma GCC visibility push(hidden)
extern "C" {

void* cxltier_je_malloc(std::size_t size) noexcept;
void* cxltier_je_calloc(std::size_t count, std::size_t size) noexcept;
// When it fails to resize, it leaves errno alone.
void* cxltier_je_realloc(void* block, std::size_t size) noexcept;
void cxltier_je_free(void* block) noexcept;
// pre: alignment is a power of two; size > 0, else 5.3.0 ignores the alignment.  Leaves errno
// alone.
void* cxltier_je_memalign(std::size_t alignment, std::size_t size) noexcept;
int cxltier_je_posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept;
std::size_t cxltier_je_malloc_usable_size(void* block) noexcept;

void* cxltier_je_mallocx(std::size_t size, int flags) noexcept;
void* cxltier_je_rallocx(void* block, std::size_t size, int flags) noexcept;
std::size_t cxltier_je_xallocx(void* block, std::size_t size, std::size_t extra,
                               int flags) noexcept;
std::size_t cxltier_je_sallocx(const void* block, int flags) noexcept;
void cxltier_je_dallocx(void* block, int flags) noexcept;
void cxltier_je_sdallocx(void* block, std::size_t size, int flags) noexcept;
std::size_t cxltier_je_nallocx(std::size_t size, int flags) noexcept;

int cxltier_je_mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size) noexcept;
int cxltier_je_mallctlnametomib(const char* name, std::size_t* mib, std::size_t* length) noexcept;
// Six arguments, since it is jemalloc's interface and not ours.
int cxltier_je_mallctlbymib(const std::size_t* mib, std::size_t length, void* old_value,
                            std::size_t* old_size, void* new_value, std::size_t new_size) noexcept;
void cxltier_je_malloc_stats_print(void (*write)(void*, const char*), void* argument,
                                   const char* options) noexcept;

// jemalloc's emap_t, of which its headers tell nothing; see address_map_lock().
extern std::byte cxltier_je_je_arena_emap_global[];
// For the threads of a fork: takes a lock of jemalloc's; makes one new in the child.  tsdn:
// jemalloc's own state of this thread, which its release build does not read here.
void cxltier_je_je_malloc_mutex_prefork(void* tsdn, void* mutex) noexcept;
void cxltier_je_je_malloc_mutex_postfork_child(void* tsdn, void* mutex) noexcept;

extern void (*cxltier_je_malloc_message)(void* argument, const char* text);
extern const char* cxltier_je_malloc_conf;
extern const char* cxltier_je_malloc_conf_2_conf_harder;

}  // extern "C"
#pragma GCC visibility pop

namespace cxltier::heap {

// The lock under which jemalloc's map of addresses grows.  It comes after the one pointer that
// rtree_t begins with, and rtree_t is the whole of emap_t; a test holds us to that.
inline void* address_map_lock() noexcept { return cxltier_je_je_arena_emap_global + sizeof(void*); }

// The flags of mallocx and its like, as jemalloc's header has them.
inline constexpr int flag_zero = 0x40;
inline constexpr int flag_no_tcache = 1 << 8;
inline constexpr int mask_tcache = 0xfff << 8;
inline constexpr int mask_arena = ~0 << 20;
constexpr int flag_arena(unsigned arena) noexcept { return static_cast<int>((arena + 1) << 20); }
// pre: alignment is a power of two
constexpr int flag_alignment(std::size_t alignment) noexcept { return __builtin_ctzl(alignment); }

}  // namespace cxltier::heap
