// SPDX-License-Identifier: Apache-2.0
//
// Where the memory of a class shall be, as a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cxltier/tier_heap.hpp"

namespace cxltier::heap {

enum class Binding : std::uint8_t {
  none,        // first touch
  prefer,      // these nodes while they have room, then the nearest others
  interleave,  // all of these in turn, by the kernel's weights where it has them
  strict,      // these nodes or not at all
};

struct Placement {
  Binding binding = Binding::none;
  NodeMask nodes{};
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace cxltier::heap
