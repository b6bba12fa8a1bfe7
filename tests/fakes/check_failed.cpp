// SPDX-License-Identifier: Apache-2.0
//
// What a broken check does in a test program: prints the condition and aborts.
#include <cstdio>
#include <cstdlib>

#include "policy/check.h"

namespace cxltier {

void check_failed(const char* text) noexcept {
  std::fprintf(stderr, "check failed: %s\n", text);
  std::abort();
}

}  // namespace cxltier
