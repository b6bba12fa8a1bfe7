// SPDX-License-Identifier: Apache-2.0
//
// A planner at work on many leaves of which few change: what one tick costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/tiering.h"

namespace cxltier::bench {

inline constexpr std::size_t leaves_1tib = 524'288;  // of 2 MiB

// Memory of a planner, placed a quarter on the fastest tier, and ticks in which one leaf in 128 is
// touched.
class PlannerLoad {
 public:
  explicit PlannerLoad(std::size_t leaves);

  // One second of the planner's time.
  void tick();

  // What the planner works in.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<Leaf> leaves_;
  std::vector<LeafChoice> choices_;
  std::vector<LeafMove> moves_;
  std::vector<LeafSample> samples_;
  std::vector<LeafPlacement> placements_;
  Tiering tiering_;
  TickInput input_;
  std::uint64_t ticks_ = 0;
};

}  // namespace cxltier::bench
