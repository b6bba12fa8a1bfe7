// SPDX-License-Identifier: Apache-2.0
//
// The one door between libcxltier.so and the core: a table that the preload library exports.
//
//   program --> libcxltier.so --weak reference--> cxltier_core_1 in libcxltier-preload.so
//                                                 (null where the core is not in the process)
//
// The two libraries may be of different versions.  The table only grows at its end; `size` says how
// far it reaches, and a function beyond it is absent.  A change of what exists would be
// cxltier_core_2, exported beside this one.
#pragma once

#include <cstdint>

#include "cxltier/alloc_table.h"
#include "cxltier/cxltier.h"

namespace cxltier {

struct CoreTable {
  std::uint32_t size;
  std::uint32_t version;  // 1
  int (*active)() noexcept;
  // pre: out != nullptr, out->size is valid; errors as cxltier_statistics()
  int (*statistics)(struct cxltier_statistics* out) noexcept;
  const struct cxltier_alloc_table* alloc;  // the heap's functions
};

// The sizes that cxltier_statistics has had start at `first`; one that is larger than `largest` is
// no size but memory that was never set.
inline constexpr std::uint32_t statistics_size_first = 56;
inline constexpr std::uint32_t statistics_size_largest = 4096;
static_assert(sizeof(struct cxltier_statistics) >= statistics_size_first);

}  // namespace cxltier

extern "C" {
extern __attribute__((visibility("default"))) const cxltier::CoreTable cxltier_core_1;
}
