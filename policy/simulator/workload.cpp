// SPDX-License-Identifier: Apache-2.0
//
// What holds of every workload.
#include "policy/simulator/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cxltier::simulator {
namespace {

bool is_distribution(const Popularity& popularity, std::size_t leaves) {
  if (popularity.size() != leaves) return false;
  if (std::ranges::any_of(popularity, [](double share) { return !(share >= 0); })) return false;
  return std::abs(std::accumulate(popularity.begin(), popularity.end(), 0.0) - 1) < 1e-9;
}

bool are_valid_phases(const Workload& workload) {
  if (workload.phases.empty() || workload.phases.front().start.count != 0) return false;
  for (std::size_t i = 0; i < workload.phases.size(); ++i) {
    const Phase& phase = workload.phases[i];
    if (i > 0 && phase.start <= workload.phases[i - 1].start) return false;
    for (std::size_t c = 0; c < workload.class_count; ++c) {
      if (phase.popularity[c] >= workload.popularity.size()) return false;
    }
    for (const std::uint32_t leaf : phase.renewed) {
      if (leaf >= workload.leaf_count) return false;
    }
  }
  return true;
}

}  // namespace

bool is_valid(const Workload& workload, const MachineModel& machine) {
  const bool has_room = std::accumulate(workload.capacity_units.begin(),
                                        workload.capacity_units.begin() +
                                            static_cast<std::ptrdiff_t>(machine.tier_count),
                                        std::uint64_t{0}) >= footprint_units(workload);
  return workload.leaf_count > 0 && workload.leaf_units > 0 && workload.class_count > 0 &&
         workload.class_count <= classes_max && has_room && are_valid_phases(workload) &&
         workload.steady_from < workload.duration &&
         (workload.tenant_of_leaf.empty() ||
          workload.tenant_of_leaf.size() == workload.leaf_count) &&
         std::ranges::all_of(workload.popularity, [&](const Popularity& popularity) {
           return is_distribution(popularity, workload.leaf_count);
         });
}

std::size_t phase_at(const Workload& workload, Nanoseconds now) {
  const auto next = std::ranges::upper_bound(workload.phases, now, {}, &Phase::start);
  return static_cast<std::size_t>(next - workload.phases.begin()) - 1;
}

Nanoseconds phase_end(const Workload& workload, std::size_t phase) {
  return phase + 1 < workload.phases.size() ? workload.phases[phase + 1].start : workload.duration;
}

}  // namespace cxltier::simulator
