// SPDX-License-Identifier: Apache-2.0
//
// How figures are measured so that they can be compared: all of them once per round, in a random
// order that is new each round, between two runs of a sentinel.
//
//   sentinel | B D A C | sentinel      round 1
//   sentinel | D A C B | sentinel      round 2 ...
//
// What drifts over minutes then touches all figures alike, and what is compared was measured within
// seconds.  A round whose sentinels differ by more than 10 % is measured again, once; its samples
// stay, marked.  Each sample carries what the host did meanwhile, and is rejected for that alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/tier/kernel/timer.h"
#include "bench/tier/result/document.h"

namespace cxltier::bench {

struct Measured {
  double value = 0;
  double companion = 0;
};

struct Task {
  Cell cell;
  std::function<Measured()> measure;
  std::function<void(Cell&)> finish;  // after the last round: placement, quantiles; may be empty
  Measurer measurer = Measurer::caller;
  // Context switches per second that the task makes itself, by starting threads.
  double switches_own_per_s = 0;
  int cpu = -1;  // where the caller's thread is to be, before anything is watched; -1: anywhere
};

struct Plan {
  int rounds = 9;
  int rounds_least = 3;  // even after the deadline
  std::uint64_t seed = 1;
  double deadline_s = 0;  // on now_s()'s clock
  DisturbanceLimits limits;
  // Why a sample does not count.
  std::function<std::vector<std::string>(const Disturbance&, const DisturbanceLimits&)> judge =
      causes_of;
  std::function<double()> sentinel;  // a latency in ns
  std::function<double()> warm_up;   // called until its values no longer rise or fall; may be empty
  std::function<void(double share, const std::string& what)> progress;
};

struct ExperimentOutcome {
  int rounds = 0;
  int rounds_repeated = 0;
  double drift_most = 0;
  double warm_up_s = 0;
};

// Measures all tasks and moves their cells, summarised, to `document`.
ExperimentOutcome run_experiment(std::vector<Task> tasks, const Plan& plan, const Timer& timer,
                                 Document& document);

}  // namespace cxltier::bench
