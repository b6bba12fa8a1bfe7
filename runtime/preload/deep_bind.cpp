// SPDX-License-Identifier: Apache-2.0
//
// dlopen without RTLD_DEEPBIND.
//
// A library that is opened so finds libc's malloc before ours: then it frees with libc what libc's
// strdup took from this heap, or gives the program blocks that this heap never made, and the
// process ends.  What the flag is for, that a library prefers its own symbols, is given up.
//
// The real dlopen looks at its return address to know whose search path and namespace counts, so
// this must be a jump and not a call: the file is compiled with optimisation in every build, and a
// test opens a library by its caller's RUNPATH.
#include <dlfcn.h>

#include <atomic>

#define CXLTIER_EXPORT __attribute__((visibility("default")))

namespace {

using Dlopen = void* (*)(const char* file, int mode);

constinit std::atomic<Dlopen> real_dlopen{nullptr};

__attribute__((noinline, cold)) Dlopen find_dlopen() noexcept {
  const auto found = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  real_dlopen.store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace

extern "C" CXLTIER_EXPORT void* dlopen(const char* file, int mode) noexcept {
  Dlopen real = real_dlopen.load(std::memory_order_relaxed);
  if (real == nullptr) real = find_dlopen();
  if (real == nullptr) return nullptr;
  return real(file, mode & ~RTLD_DEEPBIND);
}
