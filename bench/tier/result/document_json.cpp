// SPDX-License-Identifier: Apache-2.0
//
// The JSON form of a document, both ways.  What is unknown is null, never 0.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>

#include "bench/tier/result/document.h"

namespace cxltier::bench {
namespace {

using Json = nlohmann::ordered_json;

template <typename Number>
Json known(Number value) {
  return value < 0 ? Json(nullptr) : Json(value);
}
template <typename Number>
Json positive(Number value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json summary_json(const Summary& s) {
  return {{"count", s.count},      {"rejected", s.rejected},
          {"median", s.median},    {"ci95", {s.interval.low, s.interval.high}},
          {"mad", s.mad},          {"least", s.least},
          {"greatest", s.greatest}};
}

Json flags_json(const Flags& flags) {
  Json list = Json::array();
  for (const Flag& flag : flags) {
    list.push_back({{"rule", flag.rule},
                    {"severity", name_of(flag.severity)},
                    {"subject", flag.subject},
                    {"value", flag.value},
                    {"bound", flag.bound},
                    {"text", flag.text}});
  }
  return list;
}

Json sample_json(const Sample& sample, const Cell& cell) {
  Json json = {{"value", sample.value}};
  if (!cell.companion_unit.empty()) json["companion"] = sample.companion;
  json["causes"] = sample.causes;
  json["host"] = {{"wall_s", sample.host.wall_s},
                  {"steal_share", known(sample.host.steal_share)},
                  {"waiting_share", known(sample.host.waiting_share)},
                  {"pressure_share", known(sample.host.pressure_share)},
                  {"involuntary_switches", known(sample.host.involuntary)},
                  {"migrations", known(sample.host.migrations)},
                  {"clock_ratio", known(sample.host.clock_ratio)}};
  return json;
}

Json cell_json(const Cell& cell) {
  const bool has_companion = !cell.companion_unit.empty();
  Json json = {{"id", cell.id},
               {"mode", cell.mode},
               {"label", cell.label},
               {"quantity", cell.quantity},
               {"unit", cell.unit},
               {"better", cell.better == Better::lower ? "lower" : "higher"},
               {"cpu_node", known(cell.cpu_node)},
               {"nodes", cell.nodes},
               {"mix", cell.mix.empty() ? Json(nullptr) : Json(cell.mix)},
               {"pages", cell.pages.empty() ? Json(nullptr) : Json(cell.pages)},
               {"threads", cell.threads},
               {"delay", known(cell.delay)},
               {"summary", summary_json(cell.summary)}};
  if (has_companion) {
    json["companion_unit"] = cell.companion_unit;
    json["companion_summary"] = summary_json(cell.companion);
  }
  json["extra"] = cell.extra;
  json["flags"] = flags_json(cell.flags);
  json["samples"] = Json::array();
  for (const Sample& sample : cell.samples) {
    json["samples"].push_back(sample_json(sample, cell));
  }
  return json;
}

Json machine_json(const MachineRecord& machine) {
  Json nodes = Json::array();
  for (const MachineNode& node : machine.nodes) {
    nodes.push_back({{"id", node.id},
                     {"kind", node.kind},
                     {"tier", known(node.tier)},
                     {"bytes", node.bytes},
                     {"cpus", node.cpus},
                     {"firmware_latency_ns", positive(node.firmware_latency_ns)},
                     {"firmware_read_gbps", positive(node.firmware_read_gbps)}});
  }
  return {{"kernel", machine.kernel},
          {"cpu_model", machine.cpu_model},
          {"architecture", machine.architecture},
          {"hypervisor", machine.hypervisor},
          {"emulated", machine.emulated},
          {"cpus", machine.cpus},
          {"llc_bytes", positive(machine.llc_bytes)},
          {"memory_bytes", machine.memory_bytes},
          {"thp", machine.thp},
          {"numa_balancing", machine.numa_balancing},
          {"governor", machine.governor},
          {"load_average", known(machine.load_average)},
          {"nodes", nodes}};
}

Json settings_json(const Settings& s) {
  return {{"mode", s.mode},
          {"seed", s.seed},
          {"rounds", s.rounds},
          {"sample_ms", s.sample_ms},
          {"pages", s.pages},
          {"kernel", s.kernel},
          {"timer_cost_ns", s.timer_cost_ns},
          {"timer_ns_per_tick", s.timer_ns_per_tick},
          {"llc_latency_ns", positive(s.llc_latency_ns)}};
}

// --- reading ---

double number(const Json& json, const char* key, double otherwise) {
  const auto found = json.find(key);
  return found == json.end() || !found->is_number() ? otherwise : found->get<double>();
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

std::uint64_t whole(const Json& json, const char* key) {
  return static_cast<std::uint64_t>(std::clamp(number(json, key, 0), 0.0, 1e18));
}

int small(const Json& json, const char* key, int otherwise) {
  return static_cast<int>(std::clamp(number(json, key, otherwise), -1.0, 1e9));
}

Json part(const Json& json, const char* key, Json::value_t kind) {
  const auto found = json.find(key);
  if (found == json.end() || found->type() != kind) return Json(kind);
  return *found;
}

Summary read_summary(const Json& json) {
  Summary s;
  s.count = whole(json, "count");
  s.rejected = whole(json, "rejected");
  s.median = number(json, "median", 0);
  const Json interval = part(json, "ci95", Json::value_t::array);
  if (interval.size() == 2 && interval[0].is_number() && interval[1].is_number()) {
    s.interval = {interval[0].get<double>(), interval[1].get<double>()};
  }
  s.mad = number(json, "mad", 0);
  s.least = number(json, "least", 0);
  s.greatest = number(json, "greatest", 0);
  return s;
}

Flags read_flags(const Json& list) {
  Flags flags;
  for (const Json& json : list) {
    Flag flag;
    flag.rule = text(json, "rule");
    for (const Severity severity : {Severity::suspect, Severity::invalid}) {
      if (text(json, "severity") == name_of(severity)) flag.severity = severity;
    }
    flag.subject = text(json, "subject");
    flag.value = number(json, "value", 0);
    flag.bound = number(json, "bound", 0);
    flag.text = text(json, "text");
    flags.push_back(std::move(flag));
  }
  return flags;
}

Sample read_sample(const Json& json) {
  Sample sample;
  sample.value = number(json, "value", 0);
  sample.companion = number(json, "companion", 0);
  for (const Json& cause : part(json, "causes", Json::value_t::array)) {
    if (cause.is_string()) sample.causes.push_back(cause.get<std::string>());
  }
  return sample;
}

Cell read_cell(const Json& json) {
  Cell cell;
  cell.id = text(json, "id");
  cell.mode = text(json, "mode");
  cell.label = text(json, "label");
  cell.quantity = text(json, "quantity");
  cell.unit = text(json, "unit");
  cell.companion_unit = text(json, "companion_unit");
  cell.better = text(json, "better") == "higher" ? Better::higher : Better::lower;
  cell.cpu_node = small(json, "cpu_node", -1);
  for (const Json& node : part(json, "nodes", Json::value_t::array)) {
    if (node.is_number_integer()) cell.nodes.push_back(node.get<int>());
  }
  cell.mix = text(json, "mix");
  cell.pages = text(json, "pages");
  cell.threads = whole(json, "threads");
  cell.delay = small(json, "delay", -1);
  cell.summary = read_summary(part(json, "summary", Json::value_t::object));
  cell.companion = read_summary(part(json, "companion_summary", Json::value_t::object));
  const Json extra = part(json, "extra", Json::value_t::object);
  for (const auto& [key, value] : extra.items()) {
    if (value.is_number()) cell.extra[key] = value.get<double>();
  }
  cell.flags = read_flags(part(json, "flags", Json::value_t::array));
  for (const Json& sample : part(json, "samples", Json::value_t::array)) {
    cell.samples.push_back(read_sample(sample));
  }
  return cell;
}

MachineRecord read_machine_record(const Json& json) {
  MachineRecord machine;
  machine.kernel = text(json, "kernel");
  machine.cpu_model = text(json, "cpu_model");
  machine.architecture = text(json, "architecture");
  machine.hypervisor = text(json, "hypervisor");
  machine.emulated = part(json, "emulated", Json::value_t::boolean).get<bool>();
  machine.cpus = whole(json, "cpus");
  machine.llc_bytes = whole(json, "llc_bytes");
  machine.memory_bytes = whole(json, "memory_bytes");
  machine.thp = text(json, "thp");
  machine.numa_balancing = text(json, "numa_balancing");
  machine.governor = text(json, "governor");
  machine.load_average = number(json, "load_average", -1);
  for (const Json& node : part(json, "nodes", Json::value_t::array)) {
    machine.nodes.push_back({small(node, "id", 0), text(node, "kind"), small(node, "tier", -1),
                             whole(node, "bytes"), whole(node, "cpus"),
                             number(node, "firmware_latency_ns", 0),
                             number(node, "firmware_read_gbps", 0)});
  }
  return machine;
}

Settings read_settings(const Json& json) {
  Settings s;
  s.mode = text(json, "mode");
  s.seed = whole(json, "seed");
  s.rounds = small(json, "rounds", 0);
  s.sample_ms = number(json, "sample_ms", 0);
  s.pages = text(json, "pages");
  s.kernel = text(json, "kernel");
  s.timer_cost_ns = number(json, "timer_cost_ns", 0);
  s.timer_ns_per_tick = number(json, "timer_ns_per_tick", 0);
  s.llc_latency_ns = number(json, "llc_latency_ns", 0);
  return s;
}

std::vector<std::string> read_lines(const Json& list) {
  std::vector<std::string> lines;
  for (const Json& line : list) {
    if (line.is_string()) lines.push_back(line.get<std::string>());
  }
  return lines;
}

}  // namespace

std::string json_of(const Document& document) {
  Json json = {{"schema", document_schema}, {"version", document_version}};
  if (!document.name.empty()) {
    json["name"] = document.name;
    json["source"] = document.source;
    json["licence"] = document.licence;
  }
  json["started"] = document.started;
  json["duration_s"] = document.duration_s;
  json["machine"] = machine_json(document.machine);
  json["settings"] = settings_json(document.settings);
  json["uncertainties"] = document.uncertainties;
  json["findings"] = document.findings;
  json["flags"] = flags_json(document.flags);
  json["cells"] = Json::array();
  for (const Cell& cell : document.cells) json["cells"].push_back(cell_json(cell));
  // Names come from files of the machine: bytes that are no UTF-8 are replaced.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Document> parse_document(const std::string& source, std::string& fault) {
  const Json json = Json::parse(source, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    fault = json.is_discarded() ? "is not JSON, or was cut off" : "is JSON, but no object";
    return std::nullopt;
  }
  if (text(json, "schema") != document_schema) {
    fault =
        std::string("is no result of the bench: its \"schema\" is not \"") + document_schema + "\"";
    return std::nullopt;
  }
  if (small(json, "version", 0) != document_version) {
    fault = "has version " + std::to_string(small(json, "version", 0)) + "; known: 1";
    return std::nullopt;
  }
  Document document;
  document.name = text(json, "name");
  document.source = text(json, "source");
  document.licence = text(json, "licence");
  document.started = text(json, "started");
  document.duration_s = number(json, "duration_s", 0);
  document.machine = read_machine_record(part(json, "machine", Json::value_t::object));
  document.settings = read_settings(part(json, "settings", Json::value_t::object));
  document.uncertainties = read_lines(part(json, "uncertainties", Json::value_t::array));
  document.findings = read_lines(part(json, "findings", Json::value_t::array));
  document.flags = read_flags(part(json, "flags", Json::value_t::array));
  for (const Json& cell : part(json, "cells", Json::value_t::array)) {
    if (cell.is_object()) document.cells.push_back(read_cell(cell));
  }
  return document;
}

}  // namespace cxltier::bench
