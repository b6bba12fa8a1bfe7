// SPDX-License-Identifier: Apache-2.0
//
// `cxltier stat --json`.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "runtime/cli/stat_view.h"
#include "runtime/topology/finding.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;

constexpr double ns_per_s = 1e9;
constexpr std::uint64_t limit_none = ~std::uint64_t{0};

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / ns_per_s; }

Json nodes_of(const StatView& view) {
  Json nodes = Json::array();
  for (std::uint32_t i = 0; i < view.page.node_count; ++i) {
    const TelemetryNode& node = view.page.nodes[i];
    const bool has_tier = node.tier != static_cast<std::uint8_t>(tier_none);
    nodes.push_back({{"id", node.id},
                     {"kind", name_of(static_cast<NodeKind>(node.kind))},
                     {"tier", has_tier ? Json(node.tier) : Json()},
                     {"pages", node.pages},
                     {"bytes", bytes_of_pages(view, node.pages)}});
  }
  return nodes;
}

// null: not probed.
Json latency_of(std::uint32_t ps) { return ps == 0 ? Json() : Json(ps / 1e3); }

Json tiers_of(const StatView& view) {
  Json tiers = Json::array();
  for (std::uint32_t i = 0; i < view.page.tier_count; ++i) {
    const TelemetryTier& tier = view.page.tiers[i];
    const bool limited = tier.limit_pages != limit_none;
    tiers.push_back(
        {{"tier", i},
         {"pages", tier.pages},
         {"bytes", bytes_of_pages(view, tier.pages)},
         {"limit_bytes", limited ? Json(bytes_of_pages(view, tier.limit_pages)) : Json()},
         {"over_limit_bytes_max", bytes_of_pages(view, tier.over_limit_pages_max)},
         {"latency_ns", latency_of(view.page.latencies[i].loaded_ps)},
         {"latency_idle_ns", latency_of(view.page.latencies[i].idle_ps)}});
  }
  return tiers;
}

Json refusals_of(const TelemetryPage& page) {
  Json refusals = Json::object();
  for (std::size_t i = 0; i < refusal_kinds; ++i) {
    refusals[name_of(static_cast<Refusal>(i))] = page.pages_refused[i];
  }
  return refusals;
}

void add_state(Json& json, const StatView& view) {
  const TelemetryPage& page = view.page;
  json["version"] = 1;
  json["pid"] = view.pid;
  json["program"] = view.program;
  json["state"] = name_of(page.state);
  json["reason"] = page.reason.data();
  json["policy"] = page.policy.data();
  json["page_size"] = page.page_size;
  json["ticks"] = page.ticks;
  json["interval_ms"] = static_cast<double>(page.interval_ns) / 1e6;
  json["regions"] = page.regions;
  json["managed_pages"] = page.managed_pages;
  json["vmas"] = page.vmas;
  json["scans_unknown"] = page.scans_unknown;
}

void add_moves(Json& json, const StatView& view) {
  const TelemetryPage& page = view.page;
  json["pages_promoted"] = page.pages_promoted;
  json["pages_demoted"] = page.pages_demoted;
  json["bytes_promoted"] = bytes_of_pages(view, page.pages_promoted);
  json["bytes_demoted"] = bytes_of_pages(view, page.pages_demoted);
  json["refusals"] = refusals_of(page);
  json["over_limit_bytes_max"] = bytes_of_pages(view, over_limit_pages_max(page));
  json["over_limit_pages_max"] = over_limit_pages_max(page);
}

void add_cost(Json& json, const StatView& view) {
  const TelemetryPage& page = view.page;
  json["sensor_cpu_s"] = seconds_of(page.sensor_cpu_ns);
  json["policy_cpu_s"] = seconds_of(page.policy_cpu_ns);
  json["mover_cpu_s"] = seconds_of(page.mover_cpu_ns);
  json["cpu_s"] = seconds_of(page.thread_cpu_ns);
  json["cpu_share"] = cpu_share_of(view);
  json["call_us_max"] = static_cast<double>(page.call_ns_max) / 1e3;
  json["runtime_bytes"] = page.runtime_bytes;
  json["updated_age_ms"] = age_ms_of(view);
}

// Pages by the policy's last word on them.
Json decisions_of(const TelemetryPage& page) {
  Json decisions = Json::object();
  for (std::size_t i = 0; i < verdict_count; ++i) {
    if (page.verdict_pages[i] > 0) {
      decisions[text_of(static_cast<Verdict>(i))] = page.verdict_pages[i];
    }
  }
  return decisions;
}

}  // namespace

std::string stat_json_of(const StatView& view, JsonForm form) {
  Json json;
  add_state(json, view);
  add_moves(json, view);
  add_cost(json, view);
  json["nodes"] = nodes_of(view);
  json["tiers"] = tiers_of(view);
  json["heat_histogram"] = view.page.heat_histogram;
  json["decisions"] = decisions_of(view.page);
  const int indentation = form == JsonForm::indented ? 2 : -1;
  return json.dump(indentation, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace cxltier
