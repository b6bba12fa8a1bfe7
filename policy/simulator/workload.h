// SPDX-License-Identifier: Apache-2.0
//
// What a simulated program does: who accesses which memory how often, and how that changes.
//
// Memory is a row of leaves of equal size.  A class is a group of threads with one way of
// accessing: how many lines it keeps outstanding (a pointer chase 1 per thread, a stream 8), how
// its accesses spread over the leaves, how many are writes.  Time is a row of phases; inside a
// phase nothing changes, so everything that depends on it is computed once.
//
// Pure values; built by workloads.h; read by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/simulator/load_solver.h"
#include "policy/simulator/machine_model.h"
#include "policy/units.h"

namespace cxltier::simulator {

struct AccessClass {
  std::string name;
  double lines = 0;             // outstanding, of all its threads
  double think_ns = 0;          // between accesses
  double write_share = 0;       // of its traffic
  double sequential_share = 0;  // of its steps that go to the next line or near it
  double weight = 1;            // of its progress in the program's; they sum to 1
  std::uint8_t tenant = 0;
};

struct Phase {
  Nanoseconds start{};
  // By class: index into Workload::popularity, and the share of its lines that is in use.
  std::array<std::size_t, classes_max> popularity{};
  std::array<double, classes_max> activity{1, 1, 1, 1};
  double background_cores = 0;
  // Leaves that were freed and allocated anew when the phase began.
  std::vector<std::uint32_t> renewed;
};

// Shares of accesses by leaf; they sum to 1.
using Popularity = std::vector<double>;

struct Workload {
  std::string name;
  std::size_t leaf_count = 0;
  std::uint32_t leaf_units = 0;  // of unit_bytes
  std::size_t class_count = 0;
  std::array<AccessClass, classes_max> classes{};
  std::vector<Popularity> popularity;
  std::vector<Phase> phases;  // ascending; the first starts at 0
  Nanoseconds duration{};
  Nanoseconds steady_from{};  // what comes before is not judged as steady state
  Nanoseconds changed_at{};   // when the one change came; 0: there is none to recover from
  PerTier<std::uint64_t> capacity_units{};
  std::vector<std::uint8_t> tenant_of_leaf;  // empty: all are the first tenant's
};

[[nodiscard]] bool is_valid(const Workload& workload, const MachineModel& machine);

[[nodiscard]] inline std::uint64_t footprint_units(const Workload& workload) {
  return workload.leaf_count * workload.leaf_units;
}

// Index of the phase that holds at a time.
[[nodiscard]] std::size_t phase_at(const Workload& workload, Nanoseconds now);
// When a phase ends: the start of the next, or the end of the workload.
[[nodiscard]] Nanoseconds phase_end(const Workload& workload, std::size_t phase);

}  // namespace cxltier::simulator
