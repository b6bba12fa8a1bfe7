// SPDX-License-Identifier: Apache-2.0
//
// A C++ plugin of a C program: libstdc++ comes with it, long after the preload library looked for
// it.
#include <cstdint>
#include <new>

// Returns 1 if a failing new threw, 0 if it returned.
extern "C" __attribute__((visibility("default"))) int plugin_survives_a_failing_new() {
  static volatile std::size_t too_large = static_cast<std::size_t>(PTRDIFF_MAX) + 1;
  try {
    ::operator delete(::operator new(too_large));
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}
