// SPDX-License-Identifier: Apache-2.0
//
// The workloads that the grid is made of, each by its published description.
//
// GUPS with a hot set and its contention steps follow Colloid (SOSP 2024): 72 GiB, 15 threads, 90 %
// of updates in a third, beside it 0, 5, 10 or 15 cores of streams.  The others have 16 GiB: what
// counts is how much of it fits into the fast tier.  Hot leaves are scattered by the seed, so first
// touch gets the share of them that the capacity is.
//
// Pure: same arguments, same workload.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/simulator/machine_model.h"
#include "policy/simulator/workload.h"

namespace cxltier::simulator {

struct WorkloadOptions {
  // Slow capacity for each fast one: 1 to 16.  The footprint fills both, and the slow tiers could
  // hold it alone.
  double ratio = 2;
  // Streams beside it, in thirds of the machine's cores: 0 to 3.
  double load = 0;
  std::uint64_t seed = 1;
};

// Names that make_workload knows.
[[nodiscard]] std::span<const std::string_view> known_workloads();

// Empty if the name is not known.
[[nodiscard]] std::optional<Workload> make_workload(std::string_view name,
                                                    const MachineModel& machine,
                                                    const WorkloadOptions& options);

// Colloid's table: GUPS on 72 GiB with 32 GiB fast; `think_ns` tells its three columns apart.
[[nodiscard]] Workload make_colloid_gups(const MachineModel& machine, double background_cores,
                                         double think_ns);

}  // namespace cxltier::simulator
