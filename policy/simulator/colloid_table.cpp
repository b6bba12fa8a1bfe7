// SPDX-License-Identifier: Apache-2.0
//
// The published gains, and the model's: the best share against hottest-first (A), or the share of
// equal latencies against hottest-first (B).
#include "policy/simulator/colloid_table.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "policy/check.h"
#include "policy/simulator/arithmetic.h"
#include "policy/simulator/load_solver.h"

namespace cxltier::simulator {
namespace {

constexpr std::array<double, colloid_latencies> latencies = {135, 148, 168, 192};
// [latency][system][load]
constexpr double published[colloid_latencies][colloid_systems][colloid_loads] = {
    {{1.008, 1.173, 1.652, 2.361}, {0.968, 1.254, 1.812, 2.361}, {1.025, 1.101, 1.424, 1.806}},
    {{0.996, 1.090, 1.536, 2.191}, {1.002, 1.193, 1.662, 2.136}, {1.011, 1.067, 1.329, 1.717}},
    {{0.993, 1.023, 1.373, 1.973}, {0.995, 1.133, 1.516, 1.970}, {1.016, 1.015, 1.227, 1.589}},
    {{0.992, 1.014, 1.254, 1.765}, {1.009, 1.029, 1.424, 1.762}, {1.003, 1.012, 1.144, 1.497}}};

// Hottest-first holds the hot third and 8 of the 48 GiB of cold memory in 32 GiB.
constexpr double hottest_first_share = 0.9 + 0.1 * 8 / 48;
constexpr int bisections = 50;

class Gups {
 public:
  Gups(const MachineModel& machine, double background_cores, double think_ns) : solver_(machine) {
    load_.class_count = 1;
    load_.classes[0] = {.lines = machine.cores * machine.lines_per_core, .think_ns = think_ns};
    load_.classes[0].weight = {1, 1};
    load_.background_lines = machine.background_lines * background_cores;
    load_.background_think_ns = machine.background_think_ns;
  }
  const LoadResult& at(double share) {
    load_.classes[0].share = {share, 1 - share};
    return solver_.solve(load_);
  }
  double rate(double share) { return at(share).rate[0]; }

 private:
  LoadSolver solver_;
  Load load_;
};

// Thirds of an interval: the rate has one maximum in the share.
double best_rate(Gups& gups) {
  double low = 0;
  double high = hottest_first_share;
  for (int i = 0; i < bisections * 2; ++i) {
    const double third = (high - low) / 3;
    (gups.rate(low + third) < gups.rate(high - third) ? low : high) =
        gups.rate(low + third) < gups.rate(high - third) ? low + third : high - third;
  }
  return std::max({gups.rate((low + high) / 2), gups.rate(0), gups.rate(hottest_first_share)});
}

double balanced_rate(Gups& gups) {
  double low = 0;
  double high = hottest_first_share;
  for (int i = 0; i < bisections; ++i) {
    const double middle = (low + high) / 2;
    const LoadResult& result = gups.at(middle);
    (result.latency_ns[0] > result.latency_ns[1] ? high : low) = middle;
  }
  return gups.rate((low + high) / 2);
}

}  // namespace

double colloid_think_ns(ColloidFit fit, std::size_t system) {
  constexpr std::array<double, colloid_systems> a = {5, 0, 90};
  constexpr std::array<double, colloid_systems> b = {0, 0, 125};
  return fit == ColloidFit::a ? a[system] : b[system];
}

ColloidTable colloid_table(ColloidFit fit) {
  ColloidTable table;
  std::size_t cell = 0;
  for (std::size_t l = 0; l < colloid_latencies; ++l) {
    const std::string name = std::string(fit == ColloidFit::a ? "colloid-a-" : "colloid-b-") +
                             std::to_string(static_cast<int>(latencies[l]));
    const MachineModel* machine = find_machine(name);
    CXLTIER_CHECK(machine != nullptr);
    for (std::size_t system = 0; system < colloid_systems; ++system) {
      for (std::size_t load = 0; load < colloid_loads; ++load) {
        const auto cores = static_cast<double>(load * 5);
        Gups gups(*machine, cores, colloid_think_ns(fit, system));
        const double balanced = fit == ColloidFit::a ? best_rate(gups) : balanced_rate(gups);
        const double gain = balanced / gups.rate(hottest_first_share);
        table[cell++] = {latencies[l], system, cores, published[l][system][load],
                         std::max(1.0, gain)};
      }
    }
  }
  return table;
}

double rms_log_error(const ColloidTable& table) {
  double sum = 0;
  for (const ColloidCell& cell : table) {
    const double error = log_of(cell.modelled / std::max(1.0, cell.published));
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(table.size()));
}

}  // namespace cxltier::simulator
