// SPDX-License-Identifier: Apache-2.0
//
// The embedded jemalloc's options, and its start-up at a time of our choosing.
//
// MALLOC_CONF and /etc/malloc.conf mean what they mean for jemalloc, with one exception: heap
// profiling is forced off, because its imports are stubs.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"

// The application's hook, wherever the application has it; see jemalloc_api.cpp.
extern "C" void (*malloc_message)(void* argument, const char* text);

// Read by jemalloc after every other source of options.  Constant-initialised, since the first
// malloc comes before any constructor.
constinit const char* cxltier_je_malloc_conf_2_conf_harder = "prof:false";

namespace {

void pass_message_on(void* argument, const char* text) {
  if (malloc_message != nullptr) {
    malloc_message(argument, text);
  } else {
    syscall(SYS_write, STDERR_FILENO, text, std::strlen(text));
  }
}

void forget_other_threads() {
  cxltier::heap::mapped_ranges.forget_splits_in_transit();
  cxltier::heap::growth_watch.forget_running_hook();
}

}  // namespace

namespace cxltier::heap {

void initialize() noexcept {
  static constinit std::atomic<bool> initialized{false};
  if (initialized.exchange(true)) return;
  const int errno_before = errno;
  cxltier_je_free(cxltier_je_malloc(1));
  cxltier_je_malloc_message = pass_message_on;
  // On failure a child may lack one growth call; no reason to fail a program.
  pthread_atfork(nullptr, nullptr, forget_other_threads);
  errno = errno_before;
}

}  // namespace cxltier::heap
