// SPDX-License-Identifier: Apache-2.0
//
// What could be reached at best, three ways.
//
//   O1  free migration: in each phase the best placement that the capacities allow, at no cost.
//       One class: leaves sorted by heat, then a search over the share of accesses on each tier.
//       Several: the fast tier holds the first leaves by a weighted sum of the classes' heat,
//       searched over the weights, of either sign, and the fill.
//   O2  clairvoyant: knows the future and pays for what it moves (make_clairvoyant).
//   O3  analytic cap: no placement beats the sum of bandwidths or the fastest tier's idle latency.
//
// No policy can beat O1 by more than the tolerance of its search; the grid asserts it.
#pragma once

#include <memory>
#include <vector>

#include "policy/simulator/tiering_policy.h"
#include "policy/simulator/workload.h"

namespace cxltier::simulator {

// Where leaves should be, and how fast the program then is.
struct Placement {
  double progress = 0;
  std::vector<PerTier<float>> share;  // of each leaf by tier
};

// What the program does for a while; made of a phase, or of a mean over several.
struct Demand {
  std::array<Popularity, classes_max> popularity;
  std::array<double, classes_max> activity{};
  double background_cores = 0;
};
[[nodiscard]] Demand demand_of(const Workload& workload, std::size_t phase);

// O1 for one demand.
[[nodiscard]] Placement best_placement(const MachineModel& machine, const Workload& workload,
                                       const Demand& demand);
// How fast the program is with leaves placed so.
[[nodiscard]] double progress_of(const MachineModel& machine, const Workload& workload,
                                 const Demand& demand, const std::vector<PerTier<float>>& share);

// O1 by phase, each kind of phase searched once.
[[nodiscard]] std::vector<double> best_progress(const MachineModel& machine,
                                                const Workload& workload);
// Mean of a value by phase over the time from `from` to the end.
[[nodiscard]] double mean_by_phase(const Workload& workload, const std::vector<double>& by_phase,
                                   Nanoseconds from);

// O3 for a phase.
[[nodiscard]] double analytic_cap(const MachineModel& machine, const Workload& workload,
                                  std::size_t phase);

// O2, as a policy: each second it looks `horizon` ahead, finds the best placement for the mean
// demand there, and moves as far towards it, in eighths of the way, as pays within the horizon.
[[nodiscard]] std::unique_ptr<TieringPolicy> make_clairvoyant();

}  // namespace cxltier::simulator
