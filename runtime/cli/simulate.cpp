// SPDX-License-Identifier: Apache-2.0
//
// The verb `simulate`: one scenario under several policies, or the grid.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "policy/simulator/oracle.h"
#include "policy/simulator/trace.h"
#include "runtime/cli/simulate_view.h"
#include "runtime/cli/verb.h"

namespace cxltier {
namespace {

using simulator::Cell;
using simulator::CellResult;

struct SimulateOptions {
  Cell cell{.workload = "zipf-0.99", .machine = "spr-cxl", .ratio = 4, .load = 0};
  std::vector<std::string> policies;
  std::uint64_t seed = 1;
  std::string grid;
  std::string trace;
  std::string html;
  bool json = false;
  bool list = false;
};

std::string joined_names() {
  std::string text = "workloads:";
  for (const std::string_view name : simulator::known_workloads()) text += fmt::format(" {}", name);
  text += " colloid-gups\nmachines:";
  for (const auto& machine : simulator::known_machines()) text += fmt::format(" {}", machine.name);
  text += "\npolicies:";
  for (const std::string& name : simulator::policy_names()) text += " " + name;
  return text + "\n";
}

bool write_file(const std::string& name, const std::string& content) {
  std::ofstream file(name, std::ios::binary);
  file << content;
  if (file.flush()) return true;
  complain(fmt::format("simulate: cannot write {}; name a file in a folder that is yours", name));
  return false;
}

// The scenario of the options: a known workload, or a recorded one.
std::optional<simulator::Setting> setting_of(const SimulateOptions& options) {
  if (options.trace.empty()) {
    auto setting = simulator::make_setting(options.cell, options.seed);
    if (!setting) {
      complain(
          fmt::format("simulate: unknown workload '{}' or machine '{}'; list them with: "
                      "cxltier simulate --list",
                      options.cell.workload, options.cell.machine));
    }
    return setting;
  }
  const simulator::MachineModel* machine = simulator::find_machine(options.cell.machine);
  std::ifstream file(options.trace, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (machine == nullptr || !file) {
    complain(machine == nullptr
                 ? fmt::format("simulate: unknown machine '{}'", options.cell.machine)
                 : fmt::format("simulate: cannot read {}; record it with: cxltier record",
                               options.trace));
    return std::nullopt;
  }
  const simulator::TraceReading reading = simulator::read_trace(text);
  if (!reading.trace) {
    complain(fmt::format("simulate: {}: {}", options.trace, reading.fault));
    return std::nullopt;
  }
  auto workload = simulator::workload_of_trace(*reading.trace, *machine, options.cell.ratio);
  if (!workload) {
    complain(fmt::format("simulate: {} holds no heat; record it for longer", options.trace));
    return std::nullopt;
  }
  workload->phases.front().background_cores = options.cell.load * machine->cores / 3;
  for (simulator::Phase& phase : workload->phases) {
    phase.background_cores = options.cell.load * machine->cores / 3;
  }
  return simulator::Setting{machine, *std::move(workload)};
}

// Else its file is at fault, where it has one.
bool has_unknown_name(const SimulateOptions& options) {
  return options.trace.empty() || simulator::find_machine(options.cell.machine) == nullptr;
}

int run_scenario(const SimulateOptions& options) {
  const std::optional<simulator::Setting> setting = setting_of(options);
  if (!setting) return has_unknown_name(options) ? exit_usage : exit_failed;
  const simulator::Workload& workload = setting->workload;
  constexpr double gib = 1024.0 * 1024 * 1024;
  const auto gib_of = [](std::uint64_t units) {
    return static_cast<double>(units * simulator::unit_bytes) / gib;
  };
  ScenarioView view;
  view.scenario = options.trace.empty()
                      ? simulator::name_of(options.cell)
                      : fmt::format("{} on {}", options.trace, setting->machine->name);
  view.source = setting->machine->source;
  view.tier_count = setting->machine->tier_count;
  view.footprint_gib = gib_of(footprint_units(workload));
  view.fast_gib = gib_of(workload.capacity_units[0]);
  view.duration_s = static_cast<double>(workload.duration.count) / 1e9;
  view.steady_from_s = static_cast<double>(workload.steady_from.count) / 1e9;
  const std::vector<double> best = simulator::best_progress(*setting->machine, workload);
  view.best_steady = simulator::mean_by_phase(workload, best, workload.steady_from);
  const simulator::RunOptions run{
      .seed = options.seed,
      .timeline_step = {workload.duration.count / 240 / simulator::quantum.count *
                        simulator::quantum.count},
      .recovery_progress = view.best_steady};
  for (const std::string& name : options.policies) {
    const auto policy = simulator::make_policy(name);
    view.rows.push_back({name, simulate(*setting->machine, workload, *policy, run)});
  }
  if (!options.html.empty() && !write_file(options.html, simulate_html_of(view))) {
    return exit_failed;
  }
  return print_data(options.json ? simulate_json_of(view) : simulate_table_of(view));
}

int run_grid(const SimulateOptions& options) {
  const auto size = options.grid == "full" ? simulator::GridSize::full : simulator::GridSize::quick;
  const std::vector<Cell> cells = simulator::grid_cells(size);
  std::vector<CellResult> results(cells.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t cell = next++; cell < cells.size(); cell = next++) {
        results[cell] = simulator::run_cell(cells[cell], options.policies, options.seed);
      }
    });
  }
  threads.clear();
  return print_data(options.json ? grid_json_of(results, std::string(simulator::own_name))
                                 : grid_table_of(results));
}

int simulate_verb(SimulateOptions options) {
  if (options.list) return print_data(joined_names());
  if (options.policies.empty()) {
    options.policies = {"first-touch",    "hottest-first", "memtis-like",
                        "colloid-memtis", "hot-cold",      "balance"};
  }
  for (const std::string& name : options.policies) {
    if (simulator::make_policy(name) != nullptr) continue;
    complain(fmt::format("simulate: unknown policy '{}'; list them with: cxltier simulate --list",
                         name));
    return exit_usage;
  }
  if (options.grid.empty()) return run_scenario(options);
  if (options.grid != "quick" && options.grid != "full") {
    complain(fmt::format("simulate: --grid {}: quick or full", options.grid));
    return exit_usage;
  }
  return run_grid(options);
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* verb = app.add_subcommand("simulate", "Try policies on a simulated machine");
  verb->add_option("--workload", options->cell.workload, "What the program does; see --list");
  verb->add_option("--trace", options->trace, "Instead: a trace of `cxltier record`")
      ->type_name("FILE");
  verb->add_option("--machine", options->cell.machine, "A published machine; see --list");
  verb->add_option("--ratio", options->cell.ratio, "Slow memory for each fast one: 1 to 16")
      ->check(CLI::Range(0.05, 1000.0));
  verb->add_option("--load", options->cell.load, "Streams beside it, in thirds of the cores")
      ->check(CLI::Range(0.0, 10.0));
  verb->add_option("--policy", options->policies, "Policies, by commas; see --list")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb->add_option("--seed", options->seed, "Of the random numbers");
  verb->add_option("--grid", options->grid, "All cells instead of one: quick or full");
  verb->add_option("--html", options->html, "Write a page with timelines")->type_name("FILE");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->add_flag("--list", options->list, "Print the known names");
  verb->callback([options, &exit_code] { exit_code = simulate_verb(*options); });
}

}  // namespace cxltier
