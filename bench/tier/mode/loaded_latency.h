// SPDX-License-Identifier: Apache-2.0
//
// What curves and interference share: one thread that chases on its own core while others load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/tier/mode/mode.h"

namespace cxltier::bench {

// A chase on `node` and a team that can load it and others.
struct LoadedUse {
  PlacedChase* place = nullptr;
  PlacedTeam* team = nullptr;
  unsigned latency_cpu = 0;
  int cpu_node = 0;  // of latency_cpu
  std::vector<unsigned> load_cpus;
  int node = 0;
};

// Latency on the chase while the team runs its orders, and the traffic of one buffer, or of all.
[[nodiscard]] Measured sample_loaded(Session& session, const LoadedUse& use,
                                     const std::vector<LoadOrder>& orders,
                                     std::optional<std::size_t> buffer);

// A latency with the load beside it; `mode` is the first part of its id.
[[nodiscard]] Cell loaded_cell(const Session& session, const LoadedUse& use, const char* mode,
                               const std::string& id);

// After the last round: where the chase's pages are, and those of the load on each of these nodes.
void finish_loaded(Session& session, const LoadedUse& use, const std::vector<int>& loaded,
                   Cell& cell);

// What loading `other` does to use.node: latency over the rate of the load there, and both tiers
// under full load at once against one alone.
void add_interference(Session& session, const LoadedUse& use, int other,
                      const std::vector<std::uint32_t>& delays, std::vector<Task>& tasks);
// A line for each pair.
void report_interference(Session& session);

}  // namespace cxltier::bench
