// SPDX-License-Identifier: Apache-2.0
//
// How much of a program's memory could live on the slow tier, and at what slowdown.
//
//   pages by heat  ──►  share of accesses that the coldest f of the memory gets
//   machine        ──►  latency of both tiers under the load that this makes
//   stall share    ──►  how much of the program's time that latency is
//
// slowdown(f) = speed with all memory on the fastest tier / speed with the coldest f on the slow
// one, less 1.  Placement is taken as ideal: whoever is in the coldest f is there, which is what
// the tiering policies come near to in steady state.
//
// Three things are uncertain and each gets a low and a high: heat inside its bin, with access bits
// that saturate at one touch; the share of time that the program waits for memory; and how heat
// changes from frame to frame.  Frames with several window lengths undo saturation: what is touched
// in every long window is told apart by short ones.  If the stall share is not known, all of the
// time is taken: then the slowdown is the most that latency can do, and the low end is left at
// none. Pure: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/simulator/trace.h"

namespace cxltier::simulator {

struct Interval {
  double low = 0;
  double middle = 0;
  double high = 0;
};

struct AdvicePoint {
  double slow_share = 0;  // of the memory on the slow tier
  Interval access_share;  // of accesses that go there
  Interval slowdown;      // 0.05 is 5 %
};

// What fits at a slowdown.
struct AdviceAnswer {
  double slowdown = 0;
  Interval slow_bytes;  // low: even in the unfavourable case; high: in the favourable one
};

inline constexpr std::array<double, 3> advised_slowdowns = {0.01, 0.05, 0.10};

struct Advice {
  std::uint64_t bytes = 0;         // of the program: mean over the trace
  std::vector<AdvicePoint> curve;  // 101 points, from 0 to all
  std::array<AdviceAnswer, advised_slowdowns.size()> answers{};
  bool is_stall_known = false;
  // Of the accesses, to pages that are touched in nearly every window.  They may be far hotter than
  // that; then less goes to the cold ones, and the slowdown is overestimated.
  double saturated_share = 0;
};

// pre: the trace has a frame with heat; machine has at least two tiers, of which the first and the
// last are used
[[nodiscard]] Advice advise(const HeatTrace& trace, const MachineModel& machine);

}  // namespace cxltier::simulator
