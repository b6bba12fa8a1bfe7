// SPDX-License-Identifier: Apache-2.0
//
// libcxltier.so: answers for the core where it is, and for its absence where it is not.
//
// It must be harmless to link and to dlopen: no state, no constructor, no thread-local storage, no
// malloc of its own, libc alone.
#include <errno.h>

#include <cstddef>

#include "runtime/api/core_table.h"

extern "C" {
extern __attribute__((weak)) const cxltier::CoreTable cxltier_core_1;
}

namespace cxltier {
namespace {

// Whether the core has the table and, in it, the function at `offset`.
bool core_offers(std::size_t offset) noexcept {
  const CoreTable* const core = &cxltier_core_1;
  return core != nullptr && core->version == 1 && core->size >= offset + sizeof(void*);
}

}  // namespace
}  // namespace cxltier

#define CXLTIER_EXPORT extern "C" __attribute__((visibility("default")))

CXLTIER_EXPORT const char* cxltier_version(void) noexcept { return CXLTIER_VERSION; }

CXLTIER_EXPORT int cxltier_active(void) noexcept {
  if (!cxltier::core_offers(offsetof(cxltier::CoreTable, active))) return 0;
  return cxltier_core_1.active();
}

CXLTIER_EXPORT int cxltier_statistics(struct cxltier_statistics* out) noexcept {
  if (out == nullptr || out->size < cxltier::statistics_size_first ||
      out->size > cxltier::statistics_size_largest) {
    return -EINVAL;
  }
  if (!cxltier::core_offers(offsetof(cxltier::CoreTable, statistics))) return -ENOSYS;
  return cxltier_core_1.statistics(out);
}
