// SPDX-License-Identifier: Apache-2.0
//
// policy_bench: the whole grid of the simulator, its summary, and every cell that misses a target.
//
//   policy_bench [--smoke|--quick] [--out FILE] [--threads N] [--seed N] [--policies A,B]
//                [--own NAME] [--tune] [--instructions N]
//
// --quick runs one cell of each workload, --smoke one cell.  --tune runs each baseline at each of
// its tunings over the quick grid and prints which serves it best.  --instructions is put into the
// summary: callgrind measures them, not we.
// Exit status: 0 done, 1 a policy beat the oracle or the file cannot be written, 2 bad usage.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/policy/grid_run.h"
#include "bench/policy/planner_load.h"
#include "policy/simulator/baselines.h"
#include "policy/simulator/grid.h"

namespace cxltier::bench {
namespace {

using Json = nlohmann::ordered_json;
using simulator::CellResult;
using simulator::Outcome;

enum class Scope : std::uint8_t { full, quick, smoke };

struct Options {
  Scope scope = Scope::full;
  bool tune = false;
  double instructions = -1;  // of the planner for each region; negative: not measured
  std::string out;
  std::string own{simulator::own_name};
  std::vector<std::string> policies;
  std::uint64_t seed = 1;
  std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--smoke") {
      options.scope = Scope::smoke;
    } else if (word == "--quick") {
      options.scope = Scope::quick;
    } else if (word == "--tune") {
      options.tune = true;
    } else if (word == "--out" && has_value) {
      options.out = argv[++i];
    } else if (word == "--own" && has_value) {
      options.own = argv[++i];
    } else if (word == "--policies" && has_value) {
      options.policies = split(argv[++i]);
    } else if (word == "--instructions" && has_value) {
      options.instructions = std::strtod(argv[++i], nullptr);
    } else if (word == "--threads" && has_value) {
      options.threads = std::strtoul(argv[++i], nullptr, 10);
    } else if (word == "--seed" && has_value) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      return std::nullopt;
    }
  }
  if (options.policies.empty()) options.policies = simulator::policy_names();
  for (const std::string& policy : options.policies) {
    if (simulator::make_policy(policy) == nullptr) return std::nullopt;
  }
  return options;
}

Json json_of(const CellResult& result, const simulator::CellRow& row, double first_touch) {
  const Outcome& outcome = row.outcome;
  return {{"cell", simulator::name_of(result.cell)},
          {"workload", result.cell.workload},
          {"machine", result.cell.machine},
          {"ratio", result.cell.ratio},
          {"load", result.cell.load},
          {"policy", row.policy},
          {"steady_progress", outcome.steady_progress},
          {"progress", outcome.progress},
          {"of_oracle", outcome.steady_progress / result.best_steady},
          {"of_oracle_whole_run", outcome.progress / result.best_whole},
          {"over_first_touch", first_touch > 0 ? outcome.steady_progress / first_touch : 0},
          {"mean_latency_ns", outcome.mean_latency_ns},
          {"fast_share", outcome.steady_share[0]},
          {"moved_gb", outcome.moved_bytes / 1e9},
          {"steady_moved_gb", outcome.steady_moved_bytes / 1e9},
          {"recovery_s", outcome.recovery_s < 0 ? Json() : Json(outcome.recovery_s)},
          {"recovery_bound_s",
           result.bytes_to_recover > 0 ? Json(simulator::recovery_bound_s(result)) : Json()}};
}

Json json_of(const simulator::Summary& summary) {
  char digest[32];
  std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(summary.digest));
  return {{"colloid_table_rms_log_error", summary.colloid_table_rms_log_error},
          {"geomean_of_oracle", summary.geomean_of_oracle},
          {"worst_cell_of_oracle", summary.worst_cell_of_oracle},
          {"min_over_first_touch", summary.min_over_first_touch},
          {"best_baseline_win_share", summary.best_baseline_win_share},
          {"best_baseline_win_share_within_half_percent", summary.near_baseline_win_share},
          {"contended_over_model_best", summary.contended_over_model_best},
          {"unloaded_penalty", summary.unloaded_penalty},
          {"contention_recovery_over_bound", summary.contention_recovery_over_bound},
          {"shift_recovery_over_bound", summary.shift_recovery_over_bound},
          {"extra_bytes_over_tpp", summary.extra_bytes_over_tpp},
          {"extra_bytes_over_colloid", summary.extra_bytes_over_colloid},
          {"digest", digest}};
}

// The fastest of many ticks: what a tick costs when nobody else wants the processor.
double tick_ms(PlannerLoad& load) {
  double best = 1e9;
  for (int i = 0; i < 30; ++i) {
    const auto start = std::chrono::steady_clock::now();
    load.tick();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() * 1000);
  }
  return best;
}

void add_planner_cost(Json& summary, const Options& options) {
  Json by_size = Json::object();
  for (const std::size_t gib : {1, 16, 256, 1024}) {
    PlannerLoad load(leaves_1tib / 1024 * gib);
    const double ms = tick_ms(load);
    by_size[std::to_string(gib) + "gib"] = ms;
    if (gib != 1024) continue;
    summary["planner_tick_ms_1tib"] = ms;
    summary["planner_bytes_1tib"] = load.bytes();
  }
  summary["planner_tick_ms"] = by_size;
  summary["planner_instructions_per_region"] =
      options.instructions < 0 ? Json() : Json(options.instructions);
}

double geomean_of(const std::vector<CellResult>& results, const std::string& policy) {
  double logs = 0;
  for (const CellResult& result : results) {
    logs += std::log(result.find(policy)->steady_progress / result.best_steady);
  }
  return std::exp(logs / static_cast<double>(results.size()));
}

void print_table(const std::vector<CellResult>& results, const Options& options) {
  std::printf("%-24s %9s %9s %12s\n", "policy", "of oracle", "worst", "moved GB");
  for (const std::string& policy : options.policies) {
    double worst = 1e9;
    double moved = 0;
    for (const CellResult& result : results) {
      const Outcome& outcome = *result.find(policy);
      worst = std::min(worst, outcome.steady_progress / result.best_steady);
      moved += outcome.moved_bytes / 1e9;
    }
    std::printf("%-24s %9.4f %9.4f %12.0f\n", policy.c_str(), geomean_of(results, policy), worst,
                moved);
  }
}

std::vector<simulator::Cell> cells_of(Scope scope) {
  if (scope == Scope::full) return simulator::grid_cells(simulator::GridSize::full);
  std::vector<simulator::Cell> cells = simulator::grid_cells(simulator::GridSize::quick);
  if (scope == Scope::smoke) cells.resize(1);
  return cells;
}

int tune(const Options& options) {
  GridRun run{.policies = {}, .seed = options.seed, .threads = options.threads};
  for (const std::string_view name : simulator::baseline_names()) {
    for (std::size_t tuning = 0; tuning < simulator::tunings; ++tuning) {
      run.policies.push_back(std::string(name) + "/" + std::to_string(tuning));
    }
  }
  const std::vector<CellResult> results = run_grid(cells_of(Scope::quick), run);
  for (const std::string& policy : run.policies) {
    std::printf("%-26s %.4f\n", policy.c_str(), geomean_of(results, policy));
  }
  return 0;
}

int bench(const Options& options) {
  const std::vector<simulator::Cell> cells = cells_of(options.scope);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<CellResult> results =
      run_grid(cells, {options.policies, options.seed, options.threads});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print_table(results, options);
  Json rows = Json::array();
  Json missed = Json::array();
  int status = 0;
  for (const CellResult& result : results) {
    const Outcome* first = result.find("first-touch");
    for (const simulator::CellRow& row : result.rows) {
      rows.push_back(json_of(result, row, first == nullptr ? 0 : first->steady_progress));
    }
    for (const std::string& name : result.above_oracle) {
      std::fprintf(stderr, "policy_bench: %s beats the oracle in %s\n", name.c_str(),
                   simulator::name_of(result.cell).c_str());
      status = 1;
    }
    const auto misses = simulator::misses_of(result, options.own);
    if (!misses.empty()) {
      missed.push_back({{"cell", simulator::name_of(result.cell)}, {"misses", misses}});
    }
  }
  Json summary = json_of(simulator::summarise(results, options.own));
  summary["grid_minutes"] = took.count() / 60;
  add_planner_cost(summary, options);
  std::printf("%s\n", summary.dump(2).c_str());
  std::printf("%zu of %zu cells miss a target\n", missed.size(), results.size());
  if (!options.out.empty()) {
    const Json report = {{"version", 1},          {"own", options.own}, {"seed", options.seed},
                         {"cells", cells.size()}, {"summary", summary}, {"misses", missed},
                         {"rows", rows}};
    std::ofstream file(options.out);
    file << report.dump(1) << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "policy_bench: cannot write %s\n", options.out.c_str());
      return 1;
    }
  }
  return status;
}

}  // namespace
}  // namespace cxltier::bench

int main(int argc, char** argv) {
  const auto options = cxltier::bench::parse(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: policy_bench [--smoke|--quick] [--out FILE] [--threads N] [--seed N] "
                 "[--policies A,B] [--own NAME] [--tune] [--instructions N]\n");
    return 2;
  }
  return options->tune ? cxltier::bench::tune(*options) : cxltier::bench::bench(*options);
}
