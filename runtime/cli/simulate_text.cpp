// SPDX-License-Identifier: Apache-2.0
//
// `simulate` as tables and as JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "runtime/cli/simulate_view.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;
using simulator::CellResult;
using simulator::CellRow;
using simulator::Outcome;

constexpr double giga = 1e9;

Json timeline_json(const ScenarioView& view, const Outcome& outcome) {
  Json points = Json::array();
  for (const simulator::TimePoint& point : outcome.timeline) {
    Json shares = Json::array();
    for (std::size_t t = 0; t < view.tier_count; ++t) shares.push_back(point.share[t]);
    points.push_back({{"time_s", point.time_s},
                      {"progress", point.progress},
                      {"mean_latency_ns", point.mean_latency_ns},
                      {"share", shares},
                      {"moved_gb", point.moved_bytes / giga}});
  }
  return points;
}

Json recovery_json(const Outcome& outcome) {
  return outcome.recovery_s < 0 ? Json() : Json(outcome.recovery_s);
}

}  // namespace

std::string simulate_table_of(const ScenarioView& view) {
  std::string text = fmt::format(
      "{}: {:.1f} GiB, {:.1f} GiB of it fast; {:.0f} s, steady from {:.0f} s\n"
      "{:<24} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}\n",
      view.scenario, view.footprint_gib, view.fast_gib, view.duration_s, view.steady_from_s,
      "policy", "speed", "of best", "J ns", "fast %", "moved GB", "steady GB");
  for (const CellRow& row : view.rows) {
    const Outcome& outcome = row.outcome;
    text +=
        fmt::format("{:<24} {:>8.4f} {:>8.1f}% {:>9.1f} {:>7.1f}% {:>9.2f} {:>9.2f}\n", row.policy,
                    outcome.steady_progress, 100 * outcome.steady_progress / view.best_steady,
                    outcome.mean_latency_ns, 100 * outcome.steady_share[0],
                    outcome.moved_bytes / giga, outcome.steady_moved_bytes / giga);
  }
  return text + fmt::format("speed: 1 is all memory on the fastest tier, alone; best: {:.4f}\n",
                            view.best_steady);
}

std::string simulate_json_of(const ScenarioView& view) {
  Json rows = Json::array();
  for (const CellRow& row : view.rows) {
    rows.push_back({{"policy", row.policy},
                    {"steady_progress", row.outcome.steady_progress},
                    {"progress", row.outcome.progress},
                    {"of_oracle", row.outcome.steady_progress / view.best_steady},
                    {"mean_latency_ns", row.outcome.mean_latency_ns},
                    {"fast_share", row.outcome.steady_share[0]},
                    {"moved_gb", row.outcome.moved_bytes / giga},
                    {"steady_moved_gb", row.outcome.steady_moved_bytes / giga},
                    {"recovery_s", recovery_json(row.outcome)},
                    {"digest", fmt::format("{:016x}", row.outcome.digest)},
                    {"timeline", timeline_json(view, row.outcome)}});
  }
  const Json report = {{"version", 1},
                       {"scenario", view.scenario},
                       {"machine_source", view.source},
                       {"footprint_gib", view.footprint_gib},
                       {"fast_gib", view.fast_gib},
                       {"duration_s", view.duration_s},
                       {"steady_from_s", view.steady_from_s},
                       {"oracle_steady_progress", view.best_steady},
                       {"policies", rows}};
  return report.dump(1) + "\n";
}

std::string grid_table_of(const std::vector<CellResult>& results) {
  std::string text =
      fmt::format("{:<24} {:>9} {:>9} {:>10}\n", "policy", "of best", "worst", "moved GB");
  for (const CellRow& policy : results.front().rows) {
    double logs = 0;
    double worst = 1e9;
    double moved = 0;
    for (const CellResult& result : results) {
      const Outcome& outcome = *result.find(policy.policy);
      const double of_best = outcome.steady_progress / result.best_steady;
      logs += std::log(of_best);
      worst = std::min(worst, of_best);
      moved += outcome.moved_bytes / giga;
    }
    text +=
        fmt::format("{:<24} {:>8.1f}% {:>8.1f}% {:>10.0f}\n", policy.policy,
                    100 * std::exp(logs / static_cast<double>(results.size())), 100 * worst, moved);
  }
  return text + fmt::format("{} cells; of best: geometric mean of speed over the oracle's\n",
                            results.size());
}

std::string grid_json_of(const std::vector<CellResult>& results, const std::string& own) {
  Json cells = Json::array();
  for (const CellResult& result : results) {
    Json rows = Json::array();
    for (const CellRow& row : result.rows) {
      rows.push_back({{"policy", row.policy},
                      {"of_oracle", row.outcome.steady_progress / result.best_steady},
                      {"moved_gb", row.outcome.moved_bytes / giga},
                      {"recovery_s", recovery_json(row.outcome)}});
    }
    cells.push_back({{"cell", simulator::name_of(result.cell)},
                     {"misses", simulator::misses_of(result, own)},
                     {"policies", rows}});
  }
  return Json({{"version", 1}, {"own", own}, {"cells", cells}}).dump(1) + "\n";
}

}  // namespace cxltier
