// SPDX-License-Identifier: Apache-2.0
//
// What a broken contract does in a test: prints its text and aborts, so that death tests can read
// it.
#include <cstdio>
#include <cstdlib>

#include "policy/check.h"

namespace cxltier {

void check_failed(const char* text) noexcept {
  std::fprintf(stderr, "check failed: %s\n", text);
  std::abort();
}

}  // namespace cxltier
