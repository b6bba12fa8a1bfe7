// SPDX-License-Identifier: Apache-2.0
//
// From the two data files to documents, and their flags.
#include "bench/tier/reference/reference.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace cxltier::bench {
namespace {

using Json = nlohmann::ordered_json;

// The tiers of a published machine as nodes, so that its cells have the shape of ours.
struct TierEntry {
  const char* name;  // in published_tiers.json
  const char* log;   // in eurosys24_curves.json
  int node;
  const char* kind;
  Distance distance;
};
constexpr TierEntry tiers[] = {
    {"local", "dram-local-snc", 0, "dram", Distance::local_dram},
    {"remote", "dram-remote-socket", 1, "dram", Distance::remote_dram},
    {"cxl", "cxl-local-socket", 2, "cxl", Distance::cxl},
    {"cxl-remote", "cxl-remote-socket", 3, "cxl", Distance::cxl},
};

const Json& machines() {
  static const Json json = Json::parse(published_tiers_json());
  return json.at("machines");
}

const Json& curves_file() {
  static const Json json = Json::parse(eurosys24_curves_json());
  return json;
}

const Json* find_machine(std::string_view name) {
  for (const Json& machine : machines()) {
    if (machine.at("name").get<std::string>() == name) return &machine;
  }
  return nullptr;
}

Summary published(double low, double high) {
  Summary summary;
  summary.count = 1;
  summary.median = (low + high) / 2;
  summary.interval = {low, high};
  summary.least = low;
  summary.greatest = high;
  return summary;
}

Cell published_cell(const char* mode, const TierEntry& tier, const std::string& name) {
  Cell cell;
  cell.mode = mode;
  cell.cpu_node = 0;
  cell.nodes = {tier.node};
  cell.label = fmt::format("{} {}", tier.name, name);
  return cell;
}

void add_latencies(const Json& machine, Document& document) {
  for (const TierEntry& tier : tiers) {
    const auto found = machine.at("latency_ns").find(tier.name);
    if (found == machine.at("latency_ns").end()) continue;
    const bool range = found->is_array();
    Cell cell = published_cell("latency", tier, "idle");
    cell.id = fmt::format("latency/cpu0/node{}/thp/whole/1", tier.node);
    cell.quantity = "latency";
    cell.unit = "ns";
    cell.summary = range ? published(found->at(0).get<double>(), found->at(1).get<double>())
                         : published(found->get<double>(), found->get<double>());
    document.cells.push_back(std::move(cell));
  }
}

void add_bandwidths(const Json& machine, Document& document) {
  for (const TierEntry& tier : tiers) {
    const auto found = machine.at("bandwidth_gbps").find(tier.name);
    if (found == machine.at("bandwidth_gbps").end()) continue;
    for (const auto& [mix, gbps] : found->items()) {
      Cell cell = published_cell("bandwidth", tier, mix);
      cell.id = fmt::format("bandwidth/cpu0/node{}/{}", tier.node, mix);
      cell.quantity = "bandwidth";
      cell.unit = "GB/s";
      cell.better = Better::higher;
      cell.mix = mix == "0:1nt" ? "W-nt" : mix;
      cell.summary = published(gbps.get<double>(), gbps.get<double>());
      document.cells.push_back(std::move(cell));
    }
  }
}

void add_interleave(const Json& machine, Document& document) {
  const auto found = machine.find("interleave");
  if (found == machine.end()) return;
  for (const Json& row : *found) {
    document.findings.push_back(fmt::format(
        "mix {}: DRAM alone {:.1f} GB/s; pages dealt 1:1 over DRAM and CXL {:.1f}; with weights "
        "{:.1f}",
        row.at("mix").get<std::string>(), row.at("dram").get<double>(),
        row.at("equal").get<double>(), row.at("weighted").get<double>()));
  }
}

const TierEntry* find_log(const std::string& log) {
  const auto* const found = std::find_if(std::begin(tiers), std::end(tiers),
                                         [&](const TierEntry& tier) { return log == tier.log; });
  return found == std::end(tiers) ? nullptr : found;
}

Cell curve_cell(const Json& curve, const TierEntry& tier, const Json& point) {
  const std::string mix = curve.at("mix").get<std::string>();
  const auto threads = curve.at("threads").get<std::size_t>();
  const bool random = curve.at("random").get<bool>();
  Cell cell = published_cell("curve", tier, mix);
  cell.label = fmt::format("{} {} {} threads{}", tier.name, mix, threads, random ? " random" : "");
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.companion_unit = "GB/s";
  cell.mix = mix == "0:1nt" ? "W-nt" : mix;
  cell.threads = threads;
  cell.delay = static_cast<int>(point.at(0).get<double>());
  cell.id = fmt::format("curve/cpu0/node{}/{}/{}t{}/d{}", tier.node, cell.mix, threads,
                        random ? "-random" : "", cell.delay);
  const double latency = point.at(1).get<double>();
  const double gbps = point.at(2).get<double>() / 1000;
  cell.summary = published(latency, latency);
  cell.companion = published(gbps, gbps);
  return cell;
}

// What the rules say of one curve goes to the cell of its highest load, the last of the points.
void check_one_curve(const Json& curve, const TierEntry& tier, std::vector<Cell>& cells) {
  std::vector<CurvePoint> points;
  Flags flags;
  for (const Cell& cell : cells) {
    points.push_back({static_cast<double>(cell.delay), cell.summary.median, cell.companion.median});
    if (cell.mix.find("nt") != std::string::npos) continue;
    for (Flag& flag : check_little(cell.label, cell.companion.median, cell.summary.median,
                                   curve.at("threads").get<std::size_t>())) {
      flags.push_back(std::move(flag));
    }
  }
  // Single readings: a tenth is no more than the noise of one.
  for (Flag& flag : check_curve(cells.back().label, points, 0.10)) flags.push_back(flag);
  const double idle =
      std::min_element(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) {
        return a.latency_ns < b.latency_ns;
      })->latency_ns;
  for (Flag& flag : check_latency_floor(fmt::format("{} idle", tier.name), idle, 0)) {
    flags.push_back(std::move(flag));
  }
  cells.back().flags = std::move(flags);
}

// The least latency of each tier for reads, and the points outside the curves, in one order check.
void check_idle_order(Document& document, const std::map<int, double>& idle) {
  std::vector<NodeLatency> nodes;
  for (const TierEntry& tier : tiers) {
    const auto found = idle.find(tier.node);
    if (found == idle.end()) continue;
    nodes.push_back({fmt::format("{} idle", tier.name), tier.distance, found->second});
  }
  for (const Json& point : curves_file().at("outside")) {
    const TierEntry* tier = find_log(point.at("tier").get<std::string>());
    const double latency = point.at("latency_ns").get<double>();
    const std::string subject =
        fmt::format("{} idle in {}", tier->name, point.at("log").get<std::string>());
    nodes.push_back({subject, tier->distance, latency});
    for (Flag& flag : check_latency_floor(subject, latency, 0)) {
      document.flags.push_back(std::move(flag));
    }
  }
  for (Flag& flag : check_latency_order(nodes, BufferAgainstCaches::larger)) {
    document.flags.push_back(std::move(flag));
  }
}

void add_curves(Document& document) {
  std::map<int, double> idle;
  for (const Json& curve : curves_file().at("curves")) {
    const TierEntry* tier = find_log(curve.at("tier").get<std::string>());
    if (tier == nullptr) continue;
    std::vector<Cell> cells;
    for (const Json& point : curve.at("points")) cells.push_back(curve_cell(curve, *tier, point));
    std::sort(cells.begin(), cells.end(),
              [](const Cell& a, const Cell& b) { return a.delay > b.delay; });
    check_one_curve(curve, *tier, cells);
    for (Cell& cell : cells) {
      if (cell.mix == "R") {
        double& least = idle.emplace(tier->node, std::numeric_limits<double>::max()).first->second;
        least = std::min(least, cell.summary.median);
      }
      document.cells.push_back(std::move(cell));
    }
  }
  check_idle_order(document, idle);
}

void add_nodes(Document& document) {
  for (const TierEntry& tier : tiers) {
    const bool used = std::any_of(document.cells.begin(), document.cells.end(), [&](const Cell& c) {
      return !c.nodes.empty() && c.nodes.front() == tier.node;
    });
    if (!used) continue;
    MachineNode node;
    node.id = tier.node;
    node.kind = tier.kind;
    node.tier = tier.node;
    document.machine.nodes.push_back(node);
  }
}

}  // namespace

bool is_reference(std::string_view name) { return find_machine(name) != nullptr; }

std::string reference_names() {
  std::string names;
  for (const Json& machine : machines()) {
    if (!names.empty()) names += ", ";
    names += machine.at("name").get<std::string>();
  }
  return names;
}

std::string reference_list() {
  std::string list;
  for (const Json& machine : machines()) {
    list += fmt::format(
        "{:<26} {}; {}\n{:<26} {}: {}\n", machine.at("name").get<std::string>(),
        machine.at("platform").get<std::string>(), machine.at("device").get<std::string>(), "",
        machine.at("evidence").get<std::string>(), machine.at("source").get<std::string>());
  }
  return list;
}

Document read_reference(std::string_view name) {
  const Json& machine = *find_machine(name);
  Document document;
  document.name = name;
  document.source = machine.at("source").get<std::string>();
  document.licence = "facts from the named source";
  document.machine.cpu_model =
      machine.at("platform").get<std::string>() + "; " + machine.at("device").get<std::string>();
  document.machine.hypervisor = "none";
  document.settings.mode = "reference";
  document.uncertainties.push_back(
      fmt::format("published figures ({}), not measured by this program; no samples",
                  machine.at("evidence").get<std::string>()));
  add_latencies(machine, document);
  add_bandwidths(machine, document);
  add_interleave(machine, document);
  if (machine.contains("curves")) {
    document.licence = curves_file().at("licence").get<std::string>();
    add_curves(document);
  }
  add_nodes(document);
  return document;
}

}  // namespace cxltier::bench
