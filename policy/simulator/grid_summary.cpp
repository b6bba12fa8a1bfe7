// SPDX-License-Identifier: Apache-2.0
//
// From cells to the figures that targets are set on.
#include <algorithm>
#include <array>
#include <cmath>

#include "policy/simulator/arithmetic.h"
#include "policy/simulator/baselines.h"
#include "policy/simulator/colloid_table.h"
#include "policy/simulator/grid.h"

namespace cxltier::simulator {
namespace {

constexpr double bound_rate = 2e9;  // bytes per second
constexpr std::string_view tpp = "tpp-like";
constexpr std::string_view colloid = "colloid-hemem";

bool is_colloid(const CellResult& result) { return result.cell.workload == "colloid-gups"; }

double best_baseline(const CellResult& result) {
  double best = 0;
  for (const std::string_view name : baseline_names()) {
    if (const Outcome* outcome = result.find(name)) {
      best = std::max(best, outcome->steady_progress);
    }
  }
  return best;
}

// Both against the whole run and in steady state.
double over_first_touch(const CellResult& result, const Outcome& own) {
  const Outcome* first_touch = result.find("first-touch");
  if (first_touch == nullptr) return 1;
  return std::min(own.progress / first_touch->progress,
                  own.steady_progress / first_touch->steady_progress);
}

double recovery_over_bound(const CellResult& result, const Outcome& own) {
  return own.recovery_s < 0 ? -1 : own.recovery_s / recovery_bound_s(result);
}

// The worse of two; negative is worst of all.
double worse_recovery(double a, double b) { return a < 0 || b < 0 ? -1 : std::max(a, b); }

double extra_bytes(const CellResult& result, std::string_view policy) {
  const Outcome* outcome = result.find(policy);
  const Outcome* needed = result.find(clairvoyant_name);
  if (outcome == nullptr || needed == nullptr) return 0;
  return std::max(0.0, outcome->moved_bytes - needed->moved_bytes);
}

// "0.912" without a locale.
std::string three_digits(double value) {
  const auto thousandths = static_cast<long>(std::lround(value * 1000));
  const std::string digits = std::to_string(1'000'000 + std::labs(thousandths) % 1000).substr(4);
  return (thousandths < 0 ? "-" : "") + std::to_string(std::labs(thousandths) / 1000) + "." +
         digits;
}

}  // namespace

double recovery_bound_s(const CellResult& result) {
  return 1.5 * result.bytes_to_recover / bound_rate + 3;
}

Summary summarise(std::span<const CellResult> results, std::string_view policy) {
  Summary summary;
  summary.colloid_table_rms_log_error = std::max(rms_log_error(colloid_table(ColloidFit::a)),
                                                 rms_log_error(colloid_table(ColloidFit::b)));
  summary.worst_cell_of_oracle = summary.min_over_first_touch = summary.contended_over_model_best =
      1e9;
  summary.unloaded_penalty = -1e9;
  summary.digest = digest_start;
  double logs = 0;
  double cells = 0;
  double wins = 0;
  double near_wins = 0;
  std::array<double, 3> extra{};
  for (const CellResult& result : results) {
    for (const CellRow& row : result.rows) {
      summary.digest = fold(summary.digest, row.outcome.digest);
    }
    const Outcome* own = result.find(policy);
    if (own == nullptr) continue;
    cells += 1;
    const double of_oracle = own->steady_progress / result.best_steady;
    logs += log_of(of_oracle);
    summary.worst_cell_of_oracle = std::min(summary.worst_cell_of_oracle, of_oracle);
    summary.min_over_first_touch =
        std::min(summary.min_over_first_touch, over_first_touch(result, *own));
    const double rival = best_baseline(result);
    wins += own->steady_progress >= rival ? 1 : 0;
    near_wins += own->steady_progress >= rival * 0.995 ? 1 : 0;
    if (is_colloid(result) && result.cell.load > 0) {
      summary.contended_over_model_best = std::min(summary.contended_over_model_best, of_oracle);
    }
    if (is_colloid(result) && result.cell.load == 0) {
      summary.unloaded_penalty = std::max(summary.unloaded_penalty, 1 - of_oracle);
    }
    if (result.cell.workload == "contention-step") {
      summary.contention_recovery_over_bound =
          worse_recovery(summary.contention_recovery_over_bound, recovery_over_bound(result, *own));
    }
    if (result.cell.workload == "shift-100") {
      summary.shift_recovery_over_bound =
          worse_recovery(summary.shift_recovery_over_bound, recovery_over_bound(result, *own));
    }
    extra[0] += extra_bytes(result, policy);
    extra[1] += extra_bytes(result, tpp);
    extra[2] += extra_bytes(result, colloid);
  }
  if (cells == 0) return summary;
  summary.geomean_of_oracle = exp_of(logs / cells);
  summary.best_baseline_win_share = wins / cells;
  summary.near_baseline_win_share = near_wins / cells;
  summary.extra_bytes_over_tpp = extra[1] > 0 ? extra[0] / extra[1] : 0;
  summary.extra_bytes_over_colloid = extra[2] > 0 ? extra[0] / extra[2] : 0;
  return summary;
}

std::vector<std::string> misses_of(const CellResult& result, std::string_view policy) {
  std::vector<std::string> misses;
  const Outcome* own = result.find(policy);
  if (own == nullptr) return misses;
  const double of_oracle = own->steady_progress / result.best_steady;
  if (of_oracle < 0.92) misses.push_back("of oracle " + three_digits(of_oracle) + " < 0.92");
  const double first = over_first_touch(result, *own);
  if (first < 0.99) misses.push_back("over first touch " + three_digits(first) + " < 0.99");
  if (is_colloid(result) && result.cell.load > 0 && of_oracle < 0.97) {
    misses.push_back("contended over model best " + three_digits(of_oracle) + " < 0.97");
  }
  if (is_colloid(result) && result.cell.load == 0 && of_oracle < 0.99) {
    misses.push_back("unloaded penalty " + three_digits(1 - of_oracle) + " > 0.01");
  }
  if (result.cell.workload == "contention-step" || result.cell.workload == "shift-100") {
    const double recovery = recovery_over_bound(result, *own);
    if (recovery < 0) misses.push_back("does not recover to 95 % of the best");
    if (recovery > 1) {
      misses.push_back("recovery over bound " + three_digits(recovery) + " > 1");
    }
  }
  for (const std::string& name : result.above_oracle) {
    if (name == policy) misses.push_back("above the oracle");
  }
  return misses;
}

}  // namespace cxltier::simulator
