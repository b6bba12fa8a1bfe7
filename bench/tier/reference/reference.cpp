// SPDX-License-Identifier: Apache-2.0
//
// From the data files that are compiled in to documents.
#include "bench/tier/reference/reference.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/tier/reference/curves_file.h"

namespace cxltier::bench {
namespace {

using Json = nlohmann::ordered_json;

const Json& machines() {
  static const Json json = Json::parse(published_tiers_json());
  return json.at("machines");
}

const Json* find_machine(std::string_view name) {
  for (const Json& machine : machines()) {
    if (machine.at("name").get<std::string>() == name) return &machine;
  }
  return nullptr;
}

void add_latencies(const Json& machine, Document& document) {
  for (const TierEntry& tier : published_tiers) {
    const auto found = machine.at("latency_ns").find(tier.name);
    if (found == machine.at("latency_ns").end()) continue;
    const bool range = found->is_array();
    Cell cell = published_cell("latency", tier, "idle");
    cell.id = fmt::format("latency/cpu0/node{}/thp/whole/1", tier.node);
    cell.quantity = "latency";
    cell.unit = "ns";
    cell.summary = range ? published_summary(found->at(0).get<double>(), found->at(1).get<double>())
                         : published_summary(found->get<double>(), found->get<double>());
    document.cells.push_back(std::move(cell));
  }
}

void add_bandwidths(const Json& machine, Document& document) {
  for (const TierEntry& tier : published_tiers) {
    const auto found = machine.at("bandwidth_gbps").find(tier.name);
    if (found == machine.at("bandwidth_gbps").end()) continue;
    for (const auto& [name, gbps] : found->items()) {
      const std::string mix = name == "0:1nt" ? "W-nt" : name;
      Cell cell = published_cell("bandwidth", tier, mix);
      cell.id = fmt::format("bandwidth/cpu0/node{}/{}", tier.node, mix);
      cell.quantity = "bandwidth";
      cell.unit = "GB/s";
      cell.better = Better::higher;
      cell.mix = mix;
      cell.summary = published_summary(gbps.get<double>(), gbps.get<double>());
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

// Figures that are no latency and no bandwidth of a tier.
void add_remarks(const Json& machine, Document& document) {
  const auto found = machine.find("remarks");
  if (found == machine.end()) return;
  for (const Json& line : *found) document.findings.push_back(line.get<std::string>());
}

// A file of the user: "./curves.json", "curves.json".
bool is_path(std::string_view name) {
  return name.find('/') != name.npos || name.ends_with(".json");
}

}  // namespace

bool is_reference(std::string_view name) { return is_path(name) || find_machine(name) != nullptr; }

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
  if (is_path(name)) return read_curves_file(std::string(name));
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
  add_remarks(machine, document);
  if (machine.contains("curves")) {
    document.licence = Json::parse(eurosys24_curves_json()).at("licence").get<std::string>();
    add_curves(eurosys24_curves_json(), document);
  }
  add_nodes(document);
  return document;
}

}  // namespace cxltier::bench
