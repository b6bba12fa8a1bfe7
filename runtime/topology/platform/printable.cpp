// SPDX-License-Identifier: Apache-2.0
//
// Bytes that a terminal would act on.
#include "runtime/topology/platform/printable.h"

#include <algorithm>

namespace cxltier {

std::string printable(const std::string& text) {
  std::string safe = text;
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return safe;
}

}  // namespace cxltier
