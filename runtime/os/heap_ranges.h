// SPDX-License-Identifier: Apache-2.0
//
// The memory that the runtime manages: what the allocator in this process mapped.  Contract; the
// preload's start-up implements it over the allocator, the tests over a fake.
#pragma once

#include <span>

#include "policy/units.h"
#include "runtime/os/address_range.h"

namespace cxltier {

class HeapRanges {
 public:
  // Writes the ranges, sorted and disjoint; returns how many.  More than fit are left out.
  virtual std::size_t copy(std::span<AddressRange> out) noexcept = 0;
  // All of them together.
  virtual Bytes mapped() noexcept = 0;

 protected:
  ~HeapRanges() = default;
};

}  // namespace cxltier
