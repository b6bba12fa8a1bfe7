// SPDX-License-Identifier: Apache-2.0
//
// One program under one policy from start to end.
//
// Same machine, workload, policy and seed: the same outcome to the last bit, wherever it runs.
// No state outside the arguments; any number of simulations may run at once, one thread each.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/simulator/tiering_policy.h"
#include "policy/simulator/workload.h"

namespace cxltier::simulator {

// What is recorded of the run at regular points.
struct TimePoint {
  double time_s = 0;
  double progress = 0;         // mean since the last point
  double mean_latency_ns = 0;  // J: latency of the program's mean access
  PerTier<double> share{};     // of accesses by tier
  PerTier<double> used{};      // of capacity
  double moved_bytes = 0;      // since the last point
};

struct RunOptions {
  std::uint64_t seed = 1;
  // Nothing is recorded if 0.
  Nanoseconds timeline_step{};
  // What recovery_s asks 95 % of; 0: the steady progress that the run itself reaches.
  double recovery_progress = 0;
};

struct Outcome {
  double progress = 0;         // mean over the whole run
  double steady_progress = 0;  // mean from Workload::steady_from on
  double moved_bytes = 0;      // whole run, both directions
  double promoted_bytes = 0;
  double steady_moved_bytes = 0;
  double mean_latency_ns = 0;  // steady
  PerTier<double> steady_share{};
  std::uint64_t digest = 0;  // of all progress and placement
  // Seconds from Workload::changed_at until the mean of a second of progress stays, for a second,
  // at 95 % of RunOptions::recovery_progress; negative: never, or nothing changed.
  double recovery_s = -1;
  std::vector<double> phase_progress;  // mean of each phase
  std::vector<TimePoint> timeline;
};

[[nodiscard]] Outcome simulate(const MachineModel& machine, const Workload& workload,
                               TieringPolicy& policy, const RunOptions& options);

// Folds a value into a digest (FNV-1a over its bytes, lowest first).
[[nodiscard]] std::uint64_t fold(std::uint64_t digest, std::uint64_t value);
[[nodiscard]] std::uint64_t fold(std::uint64_t digest, double value);
inline constexpr std::uint64_t digest_start = 0xcbf2'9ce4'8422'2325;

}  // namespace cxltier::simulator
