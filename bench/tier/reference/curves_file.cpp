// SPDX-License-Identifier: Apache-2.0
//
// From JSON that anybody may have written to cells and flags.
#include "bench/tier/reference/curves_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace cxltier::bench {
namespace {

using Json = nlohmann::json;

constexpr double latency_ns_most = 1e9;
constexpr double mbps_most = 1e9;
constexpr double delay_most = 1e9;

[[noreturn]] void refuse(const std::string& place, const std::string& cause) {
  throw std::invalid_argument(fmt::format("{}: {}", place, cause));
}

double number_at(const Json& json, const std::string& place, double most) {
  if (!json.is_number() || json.get<double>() < 0 || json.get<double>() > most) {
    refuse(place, fmt::format("not a number from 0 to {:g}", most));
  }
  return json.get<double>();
}

// The first of the keys that is there; null if none is.
Json value_of(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* const key : keys) {
    const auto found = json.find(key);
    if (found != json.end()) return *found;
  }
  return nullptr;
}

std::string text_of(const Json& json, const char* key) {
  const Json value = value_of(json, {key});
  return value.is_string() ? value.get<std::string>() : std::string();
}

const Json& list_at(const Json& json, const char* key, const std::string& place) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) {
    refuse(place, fmt::format("has no list \"{}\"", key));
  }
  return *found;
}

const TierEntry& tier_at(const Json& json, const std::string& place) {
  if (!json.is_object()) refuse(place, "is no object");
  const std::string name = text_of(json, "tier");
  for (const TierEntry& tier : published_tiers) {
    if (name.starts_with(tier.log)) return tier;
  }
  refuse(place, fmt::format("unknown tier '{}'; known are names that begin with dram-local, "
                            "dram-remote, cxl-local or cxl-remote",
                            name));
}

CurvePoint point_at(const Json& json, const std::string& place) {
  if (json.is_array() && json.size() == 3) {
    return {number_at(json[0], place + ", delay", delay_most),
            number_at(json[1], place + ", latency", latency_ns_most),
            number_at(json[2], place + ", bandwidth", mbps_most) / 1000};
  }
  if (!json.is_object()) refuse(place, "is neither an object nor a list of three");
  return {number_at(value_of(json, {"delay"}), place + ", delay", delay_most),
          number_at(value_of(json, {"latency_ns"}), place + ", latency_ns", latency_ns_most),
          number_at(value_of(json, {"bw_MBps"}), place + ", bw_MBps", mbps_most) / 1000};
}

struct Curve {
  const TierEntry* tier = nullptr;
  std::string mix;
  std::size_t threads = 0;
  bool random = false;
  std::vector<CurvePoint> points;  // by falling delay
};

Curve curve_at(const Json& json, const std::string& place) {
  Curve curve;
  curve.tier = &tier_at(json, place);
  curve.mix = text_of(json, "mix");
  if (curve.mix.empty()) refuse(place, "has no \"mix\"");
  if (curve.mix == "0:1nt") curve.mix = "W-nt";
  curve.threads = static_cast<std::size_t>(
      number_at(value_of(json, {"threads", "load_threads"}), place + ", threads", 1e6));
  curve.random = value_of(json, {"random", "random_load"}) == Json(true);
  const Json& points = list_at(json, "points", place);
  for (std::size_t i = 0; i < points.size(); ++i) {
    curve.points.push_back(point_at(points[i], fmt::format("{}, point {}", place, i)));
  }
  if (curve.points.empty()) refuse(place, "has no points");
  std::stable_sort(curve.points.begin(), curve.points.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.delay > b.delay; });
  return curve;
}

Cell point_cell(const Curve& curve, const CurvePoint& point) {
  Cell cell = published_cell("curve", *curve.tier, curve.mix);
  cell.label = fmt::format("{} {} {} threads{}", curve.tier->name, curve.mix, curve.threads,
                           curve.random ? " random" : "");
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.companion_unit = "GB/s";
  cell.mix = curve.mix;
  cell.threads = curve.threads;
  cell.delay = static_cast<int>(point.delay);
  cell.id = fmt::format("curve/cpu0/node{}/{}/{}t{}/d{}", curve.tier->node, curve.mix,
                        curve.threads, curve.random ? "-random" : "", cell.delay);
  cell.summary = published_summary(point.latency_ns, point.latency_ns);
  cell.companion = published_summary(point.gbps, point.gbps);
  return cell;
}

double least_latency(const Curve& curve) {
  return std::min_element(
             curve.points.begin(), curve.points.end(),
             [](const CurvePoint& a, const CurvePoint& b) { return a.latency_ns < b.latency_ns; })
      ->latency_ns;
}

// What the rules say of one curve.
Flags flags_of(const Curve& curve, const std::string& subject) {
  Flags flags;
  const auto add = [&](Flags more) {
    for (Flag& flag : more) flags.push_back(std::move(flag));
  };
  const bool waits = curve.mix.find("nt") == std::string::npos && curve.threads > 0;
  for (const CurvePoint& point : curve.points) {
    if (waits) add(check_little(subject, point.gbps, point.latency_ns, curve.threads));
  }
  // Single readings: a tenth is no more than the noise of one.
  add(check_curve(subject, curve.points, 0.10));
  add(check_latency_floor(fmt::format("{} idle", curve.tier->name), least_latency(curve), 0));
  return flags;
}

// The least latency of each tier for reads, and the points outside the curves, in one order check.
void check_idle_order(const Json& file, const std::map<int, double>& idle, Document& document) {
  std::vector<NodeLatency> nodes;
  for (const TierEntry& tier : published_tiers) {
    const auto found = idle.find(tier.node);
    if (found == idle.end()) continue;
    nodes.push_back({fmt::format("{} idle", tier.name), tier.distance, found->second});
  }
  const Json outside = file.contains("outside") ? file.at("outside") : Json::array();
  for (std::size_t i = 0; i < outside.size(); ++i) {
    const std::string place = fmt::format("outside {}", i);
    const TierEntry& tier = tier_at(outside[i], place);
    const double latency = number_at(value_of(outside[i], {"latency_ns"}), place, latency_ns_most);
    const std::string subject = fmt::format("{} idle in {}", tier.name, text_of(outside[i], "log"));
    nodes.push_back({subject, tier.distance, latency});
    for (Flag& flag : check_latency_floor(subject, latency, 0)) {
      document.flags.push_back(std::move(flag));
    }
  }
  for (Flag& flag : check_latency_order(nodes, BufferAgainstCaches::larger)) {
    document.flags.push_back(std::move(flag));
  }
}

Json parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) refuse("the file", "is not JSON, or was cut off");
  if (!json.is_object()) refuse("the file", "is JSON, but no object");
  return json;
}

std::string known_or(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace

Summary published_summary(double low, double high) {
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

void add_nodes(Document& document) {
  for (const TierEntry& tier : published_tiers) {
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

void add_curves(std::string_view text, Document& document) {
  const Json file = parsed(text);
  const Json& curves = list_at(file, "curves", "the file");
  std::map<int, double> idle;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve curve = curve_at(curves[i], fmt::format("curve {}", i));
    for (const CurvePoint& point : curve.points) {
      document.cells.push_back(point_cell(curve, point));
    }
    // What is said of a curve stands at its highest load.
    Cell& last = document.cells.back();
    last.flags = flags_of(curve, last.label);
    if (curve.mix != "R") continue;
    double& least =
        idle.emplace(curve.tier->node, std::numeric_limits<double>::max()).first->second;
    least = std::min(least, least_latency(curve));
  }
  check_idle_order(file, idle, document);
}

Document read_curves_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file && text.empty()) {
    throw std::invalid_argument(
        fmt::format("--reference: cannot read {}: {}", path, std::strerror(errno)));
  }
  Document document;
  document.name = path;
  document.machine.hypervisor = "none";
  document.settings.mode = "reference";
  document.uncertainties.emplace_back(
      "figures of a file, not measured by this program; no samples");
  try {
    const Json head = parsed(text);
    document.source = known_or(text_of(head, "source"), "not said");
    document.licence = known_or(text_of(head, "licence"), "not said");
    document.machine.cpu_model = known_or(text_of(head, "platform"), "a machine that is not named");
    add_curves(text, document);
  } catch (const std::invalid_argument& wrong) {
    throw std::invalid_argument(
        fmt::format("--reference: {}: {}; bench/tier/reference has the form of such a file", path,
                    wrong.what()));
  }
  add_nodes(document);
  return document;
}

}  // namespace cxltier::bench
