// SPDX-License-Identifier: Apache-2.0
//
// The verb `advise`: how much of a recorded program's memory could live on CXL, at which slowdown.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "policy/machine.h"
#include "policy/simulator/advice.h"
#include "runtime/cli/saved_profile.h"
#include "runtime/cli/verb.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/machine_reader.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;
using simulator::Advice;
using simulator::Interval;
using simulator::MachineModel;

struct AdviseOptions {
  std::string trace;
  std::string machine;
  double fast_ns = 0;
  double slow_ns = 0;
  double slow_gbps = 0;
  double stall_percent = -1;
  double stall_doubt = 5;
  bool json = false;
};

std::optional<simulator::HeatTrace> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    complain(fmt::format("advise: cannot read {}; record it with: cxltier record", name));
    return std::nullopt;
  }
  simulator::TraceReading reading = simulator::read_trace(text);
  if (!reading.trace) complain(fmt::format("advise: {}: {}", name, reading.fault));
  return reading.trace;
}

// Whether a trace says anything of heat.
bool has_heat(const simulator::HeatTrace& trace) {
  return std::any_of(trace.frames.begin(), trace.frames.end(), [](const auto& frame) {
    return std::accumulate(frame.heat.begin(), frame.heat.end(), std::uint64_t{0}) > 0;
  });
}

// This machine's tiers as they were measured or as the firmware describes them; null figures keep
// the model's.
void take_machine(MachineModel& model) {
  FileTreeLinux files("/");
  const Result<Reading> reading = read_machine(files);
  if (!reading.ok()) return;
  Machine machine = reading.value().machine;
  Settings settings;
  const EnvironmentReport ignored = settings_from(environ, settings);
  static_cast<void>(ignored);
  use_profile(files, settings, machine, "advise");
  const TierMap tiers = assign_tiers(machine, {});
  if (tiers.tier_count < 2) return;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const NodePerformance& found = machine.nodes[i].performance;
    const TierIndex tier = tiers.tier_of[i];
    if (tier == tier_none || found.read_latency_ns == 0) continue;
    const bool is_first = index_of(tier) == 0;
    const bool is_last = index_of(tier) + 1u == tiers.tier_count;
    if (!is_first && !is_last) continue;
    simulator::TierModel& into = model.tiers[is_first ? 0 : 1];
    into.idle_ns = found.read_latency_ns;
    if (found.read_bandwidth_mbps > 0) into.bandwidth_gbps = found.read_bandwidth_mbps / 1000.0;
  }
}

// A published machine by name, or this one.  Empty after a complaint.
std::optional<MachineModel> model_of(const AdviseOptions& options) {
  const MachineModel* known =
      simulator::find_machine(options.machine.empty() ? "eurosys24-fit" : options.machine);
  if (known == nullptr) {
    complain(fmt::format("advise: unknown machine '{}'; list them with: cxltier simulate --list",
                         options.machine));
    return std::nullopt;
  }
  MachineModel model = *known;
  if (options.machine.empty()) take_machine(model);
  simulator::TierModel& slow = model.tiers[model.tier_count - 1];
  if (options.fast_ns > 0) model.tiers[0].idle_ns = options.fast_ns;
  if (options.slow_ns > 0) slow.idle_ns = options.slow_ns;
  if (options.slow_gbps > 0) slow.bandwidth_gbps = options.slow_gbps;
  return model;
}

Json json_of(const Interval& value) {
  return {{"low", value.low}, {"middle", value.middle}, {"high", value.high}};
}

std::string json_of(const Advice& advice, const MachineModel& model) {
  Json curve = Json::array();
  for (const simulator::AdvicePoint& point : advice.curve) {
    curve.push_back({{"slow_share", point.slow_share},
                     {"access_share", json_of(point.access_share)},
                     {"slowdown", json_of(point.slowdown)}});
  }
  Json answers = Json::array();
  for (const simulator::AdviceAnswer& answer : advice.answers) {
    answers.push_back({{"slowdown", answer.slowdown}, {"slow_bytes", json_of(answer.slow_bytes)}});
  }
  const simulator::TierModel& slow = model.tiers[model.tier_count - 1];
  return Json({{"version", 1},
               {"machine", model.name},
               {"fast_ns", model.tiers[0].idle_ns},
               {"slow_ns", slow.idle_ns},
               {"slow_gbps", slow.bandwidth_gbps},
               {"bytes", advice.bytes},
               {"stall_known", advice.is_stall_known},
               {"saturated_share", advice.saturated_share},
               {"answers", answers},
               {"curve", curve}})
             .dump(1) +
         "\n";
}

std::string text_of(const Advice& advice, const MachineModel& model) {
  constexpr double mib = 1024.0 * 1024;
  const auto percent = [&](double bytes) {
    return 100 * bytes / static_cast<double>(std::max<std::uint64_t>(1, advice.bytes));
  };
  std::string text = fmt::format(
      "{:.0f} MiB on {}: {:.0f} ns fast, {:.0f} ns slow\n{:<14}{:>16}{:>26}\n",
      static_cast<double>(advice.bytes) / mib, model.name, model.tiers[0].idle_ns,
      model.tiers[model.tier_count - 1].idle_ns, "slowdown", "may be slow", "from .. to");
  for (const simulator::AdviceAnswer& answer : advice.answers) {
    const Interval& bytes = answer.slow_bytes;
    text += fmt::format("{:>4.0f} %{:>14.0f} MiB ({:>3.0f} %){:>10.0f} .. {:.0f} MiB\n",
                        100 * answer.slowdown, bytes.middle / mib, percent(bytes.middle),
                        bytes.low / mib, bytes.high / mib);
  }
  text += "slow share of memory:";
  for (std::size_t i = 0; i < advice.curve.size(); i += 10) {
    text += fmt::format(" {:>6.0f}%", 100 * advice.curve[i].slow_share);
  }
  text += "\nslowdown:            ";
  for (std::size_t i = 0; i < advice.curve.size(); i += 10) {
    text += fmt::format(" {:>6.1f}%", 100 * advice.curve[i].slowdown.middle);
  }
  if (!advice.is_stall_known) {
    text +=
        "\nHow much of its time it waits for memory is not known: this is the most that can be "
        "lost.\nMeasure it (perf stat, stalled cycles) and give it with --stall PERCENT.";
  }
  if (advice.saturated_share > 0.5) {
    text +=
        "\nMost accesses go to pages that are touched in every window; they may be far hotter "
        "than heat can tell,\nand the slowdown lower.";
  }
  return text + "\n";
}

int advise_verb(const AdviseOptions& options) {
  std::optional<simulator::HeatTrace> trace = read_file(options.trace);
  if (!trace) return exit_failed;
  if (!has_heat(*trace)) {
    complain(fmt::format("advise: {} holds no heat; record it for longer", options.trace));
    return exit_failed;
  }
  if (options.stall_percent >= 0) {
    trace->stall_share = options.stall_percent / 100;
    trace->stall_uncertainty = options.stall_doubt / 100;
  }
  const std::optional<MachineModel> model = model_of(options);
  if (!model) return exit_usage;
  const Advice advice = simulator::advise(*trace, *model);
  return print_data(options.json ? json_of(advice, *model) : text_of(advice, *model));
}

}  // namespace

void add_advise(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AdviseOptions>();
  CLI::App* verb =
      app.add_subcommand("advise", "Tell how much of a program's memory could live on CXL");
  verb->add_option("trace", options->trace, "A trace of `cxltier record`")
      ->required()
      ->type_name("FILE");
  verb->add_option("--machine", options->machine,
                   "A published machine (cxltier simulate --list); default: this one");
  verb->add_option("--fast-ns", options->fast_ns, "Latency of its fast memory");
  verb->add_option("--slow-ns", options->slow_ns, "Latency of its slow memory");
  verb->add_option("--slow-gbps", options->slow_gbps, "Bandwidth of its slow memory");
  verb->add_option("--stall", options->stall_percent,
                   "Share of its time that it waits for memory, all of it on DRAM")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PERCENT");
  verb->add_option("--stall-doubt", options->stall_doubt, "How far that may be off (default 5)")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PERCENT");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = advise_verb(*options); });
}

}  // namespace cxltier
