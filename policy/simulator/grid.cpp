// SPDX-License-Identifier: Apache-2.0
//
// The list of cells, and running one.
#include "policy/simulator/grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

#include "policy/check.h"
#include "policy/simulator/baselines.h"
#include "policy/simulator/colloid_table.h"
#include "policy/simulator/oracle.h"
#include "policy/simulator/product_policy.h"

namespace cxltier::simulator {
namespace {

constexpr std::string_view colloid_name = "colloid-gups";
constexpr double oracle_tolerance = 1.001;

void add_colloid_cells(std::vector<Cell>& cells) {
  for (const char* fit : {"colloid-a-", "colloid-b-"}) {
    for (const char* latency : {"135", "148", "168", "192"}) {
      for (const double load : {0, 1, 2, 3}) {
        cells.push_back({.workload = std::string(colloid_name),
                         .machine = std::string(fit) + latency,
                         .load = load});
      }
    }
  }
}

void add_cells(std::vector<Cell>& cells, std::string_view machine, std::span<const double> ratios,
               std::span<const double> loads) {
  for (const std::string_view workload : known_workloads()) {
    for (const double ratio : ratios) {
      for (const double load : loads) {
        cells.push_back({std::string(workload), std::string(machine), ratio, load});
      }
    }
  }
}

// The oracle of three tiers knows one class.
void add_three_tier_cells(std::vector<Cell>& cells, std::span<const double> ratios,
                          std::span<const double> loads) {
  const MachineModel& machine = *find_machine("three-tiers");
  for (const std::string_view workload : known_workloads()) {
    if (make_workload(workload, machine, {})->class_count > 1) continue;
    for (const double ratio : ratios) {
      for (const double load : loads) {
        cells.push_back({std::string(workload), std::string(machine.name), ratio, load});
      }
    }
  }
}

// Bytes between the best placements before and after the change, as far as 95 % of the best need
// them: the shares go the straight way from one to the other.
double bytes_to_recover(const MachineModel& machine, const Workload& workload) {
  if (workload.changed_at.count == 0) return 0;
  const std::size_t after = phase_at(workload, workload.changed_at);
  const Placement start = best_placement(machine, workload, demand_of(workload, after - 1));
  const Demand demand = demand_of(workload, after);
  const Placement end = best_placement(machine, workload, demand);
  double all = 0;
  for (std::size_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
    for (std::size_t t = 0; t < machine.tier_count; ++t) {
      all += std::max(0.0, static_cast<double>(end.share[leaf][t] - start.share[leaf][t]));
    }
  }
  constexpr int steps = 100;
  int step = 0;
  for (; step < steps; ++step) {
    const auto way = static_cast<float>(step) / steps;
    auto share = start.share;
    for (std::size_t leaf = 0; leaf < share.size(); ++leaf) {
      for (std::size_t t = 0; t < machine.tier_count; ++t) {
        share[leaf][t] += way * (end.share[leaf][t] - start.share[leaf][t]);
      }
    }
    if (progress_of(machine, workload, demand, share) >= 0.95 * end.progress) break;
  }
  return all * step / steps * workload.leaf_units * static_cast<double>(unit_bytes);
}

// The tuning of each baseline with the best geometric mean over the quick grid, steady progress
// over O1's: policy_bench --tune prints them.
struct Tuned {
  std::string_view name;
  std::size_t tuning;
};
constexpr std::array tuned_list = {Tuned{"weighted-interleave", 1},
                                   Tuned{"bwap-like", 2},
                                   Tuned{"caption-like", 0},
                                   Tuned{"hottest-first", 0},
                                   Tuned{"tpp-like", 3},
                                   Tuned{"tpp-thp-like", 3},
                                   Tuned{"numa-balancing-2-like", 3},
                                   Tuned{"hemem-like", 2},
                                   Tuned{"memtis-like", 4},
                                   Tuned{"colloid-hemem", 3},
                                   Tuned{"colloid-memtis", 3},
                                   Tuned{"colloid-tpp", 2},
                                   Tuned{"arms-like", 3}};

std::size_t tuning_of(std::string_view baseline) {
  const auto found = std::ranges::find(tuned_list, baseline, &Tuned::name);
  return found == tuned_list.end() ? 0 : found->tuning;
}

}  // namespace

std::string name_of(const Cell& cell) {
  const auto number = [](double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return std::string(text.data(), end);
  };
  const bool is_colloid = cell.workload == colloid_name;
  return cell.workload + ":" + cell.machine + (is_colloid ? "" : ":1:" + number(cell.ratio)) + ":" +
         number(cell.load) + "x";
}

std::vector<Cell> grid_cells(GridSize size) {
  std::vector<Cell> cells;
  if (size == GridSize::quick) {
    cells.push_back({.workload = std::string(colloid_name), .machine = "colloid-a-135", .load = 0});
    cells.push_back({.workload = std::string(colloid_name), .machine = "colloid-b-192", .load = 2});
    cells.push_back({.workload = std::string(colloid_name), .machine = "colloid-a-148", .load = 3});
    constexpr std::array<double, 1> quick_ratio = {4};
    constexpr std::array<double, 1> quick_load = {1};
    add_cells(cells, "spr-cxl", quick_ratio, quick_load);
    cells.push_back({"gups", "three-tiers", 4, 1});
    cells.push_back({"zipf-0.99", "eurosys24", 2, 2});
    return cells;
  }
  add_colloid_cells(cells);
  constexpr std::array<double, 5> ratios = {1, 2, 4, 8, 16};
  constexpr std::array<double, 2> loads = {0, 3};
  add_cells(cells, "spr-cxl", ratios, loads);
  constexpr std::array<double, 2> two_ratios = {2, 8};
  constexpr std::array<double, 2> two_loads = {0, 2};
  for (const char* machine : {"eurosys24", "skx-remote", "vistara", "colloid-a-135"}) {
    add_cells(cells, machine, two_ratios, two_loads);
  }
  constexpr std::array<double, 2> three_ratios = {4, 8};
  constexpr std::array<double, 2> three_loads = {0, 2};
  add_three_tier_cells(cells, three_ratios, three_loads);
  return cells;
}

std::optional<Setting> make_setting(const Cell& cell, std::uint64_t seed) {
  const MachineModel* machine = find_machine(cell.machine);
  if (machine == nullptr) return std::nullopt;
  if (cell.workload == colloid_name) {
    const ColloidFit fit = cell.machine.starts_with("colloid-b") ? ColloidFit::b : ColloidFit::a;
    return Setting{machine, make_colloid_gups(*machine, cell.load * machine->cores / 3,
                                              colloid_think_ns(fit, 0))};
  }
  std::optional<Workload> workload =
      make_workload(cell.workload, *machine, {cell.ratio, cell.load, seed});
  if (!workload) return std::nullopt;
  return Setting{machine, *std::move(workload)};
}

std::unique_ptr<TieringPolicy> make_policy(std::string_view name) {
  if (name == clairvoyant_name) return make_clairvoyant();
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view number = name.substr(slash + 1);
    std::size_t tuning = tunings;
    std::from_chars(number.data(), number.data() + number.size(), tuning);
    return tuning < tunings ? make_baseline(name.substr(0, slash), tuning) : nullptr;
  }
  if (auto baseline = make_baseline(name, tuning_of(name))) return baseline;
  return make_product(name);
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const std::string_view name : baseline_names()) names.emplace_back(name);
  for (const std::string_view name : product_names()) names.emplace_back(name);
  names.emplace_back(clairvoyant_name);
  return names;
}

const Outcome* CellResult::find(std::string_view policy) const {
  const auto row = std::ranges::find(rows, policy, &CellRow::policy);
  return row == rows.end() ? nullptr : &row->outcome;
}

CellResult run_cell(const Cell& cell, std::span<const std::string> policies, std::uint64_t seed) {
  const std::optional<Setting> setting = make_setting(cell, seed);
  CXLTIER_CHECK(setting.has_value());
  const MachineModel& machine = *setting->machine;
  const Workload& workload = setting->workload;
  CellResult result;
  result.cell = cell;
  const std::vector<double> best = best_progress(machine, workload);
  std::vector<double> cap;
  for (std::size_t i = 0; i < best.size(); ++i) cap.push_back(analytic_cap(machine, workload, i));
  result.best_steady = mean_by_phase(workload, best, workload.steady_from);
  result.best_whole = mean_by_phase(workload, best, {});
  result.cap_steady = mean_by_phase(workload, cap, workload.steady_from);
  result.bytes_to_recover = bytes_to_recover(machine, workload);
  const RunOptions options{.seed = seed, .recovery_progress = result.best_steady};
  for (const std::string& name : policies) {
    const std::unique_ptr<TieringPolicy> policy = make_policy(name);
    CXLTIER_CHECK(policy != nullptr);
    result.rows.push_back({name, simulate(machine, workload, *policy, options)});
    const std::vector<double>& reached = result.rows.back().outcome.phase_progress;
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (reached[i] <= best[i] * oracle_tolerance) continue;
      result.above_oracle.push_back(name);
      break;
    }
  }
  return result;
}

}  // namespace cxltier::simulator
