// SPDX-License-Identifier: Apache-2.0
//
// Programs and tests die on a broken contract, with its text.
#include <cstdio>
#include <cstdlib>

#include "policy/check.h"

namespace cxltier {

void check_failed(const char* text) noexcept {
  std::fprintf(stderr, "cxltier: broken contract: %s\n", text);
  std::abort();
}

}  // namespace cxltier
