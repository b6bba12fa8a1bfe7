// SPDX-License-Identifier: Apache-2.0
//
// The embedded jemalloc's options, and its start-up at a time of our choosing.
//
// MALLOC_CONF and /etc/malloc.conf mean what they mean for jemalloc, but for three options that are
// forced: heap profiling is off, because its imports are stubs; background threads do not start by
// themselves (5.3.0 races while it starts the first one; mallctl may still start them later); and
// no arena per CPU (5.3.0 crashes where a process may not run on all CPUs).
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"
#include "cxltier/tier_heap.hpp"

// The application's hook, wherever the application has it; see jemalloc_api.cpp.
extern "C" void (*malloc_message)(void* argument, const char* text);

// The first and the last source of options that jemalloc reads.  Constant-initialised, since the
// first malloc comes before any constructor.
//
// Blocks up to 256 KiB are cached by threads (jemalloc's default: 32 KiB), since above that each
// allocation takes the locks of an arena: 200 KB pairs are 20 times faster.  Eight of a size
// instead of twenty bound what a thread can hoard to 12 MiB.
// They are looked at for what has not been used once in a MiB of allocations, not in 64 KiB, which
// would be every one of them.
constinit const char* cxltier_je_malloc_conf =
    "tcache_max:262144,tcache_nslots_large:8,tcache_gc_incr_bytes:1048576";
constinit const char* cxltier_je_malloc_conf_2_conf_harder =
    "prof:false,background_thread:false,percpu_arena:disabled";

namespace {

void pass_message_on(void* argument, const char* text) {
  if (malloc_message != nullptr) {
    malloc_message(argument, text);
  } else {
    syscall(SYS_write, STDERR_FILENO, text, std::strlen(text));
  }
}

}  // namespace

namespace cxltier::heap {

void decay_idle_memory() noexcept {
  cxltier_je_mallctl("arena.4096.decay", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
}

void initialize() noexcept {
  static constinit std::atomic<bool> initialized{false};
  if (initialized.exchange(true)) return;
  const int errno_before = errno;
  cxltier_je_free(cxltier_je_malloc(1));
  cxltier_je_malloc_message = pass_message_on;
  errno = errno_before;
}

}  // namespace cxltier::heap
