// SPDX-License-Identifier: Apache-2.0
//
// Newton's method on the latencies with a step that may at most double or halve them.
#include "policy/simulator/load_solver.h"

#include <algorithm>
#include <cmath>

#include "policy/check.h"

namespace cxltier::simulator {
namespace {

constexpr int newton_steps_max = 40;
constexpr double tolerance = 1e-11;
constexpr int bisection_steps = 60;

using Matrix = std::array<std::array<double, tiers_max + 1>, tiers_max>;

// Solves the n x n system whose right side is column n, into that column.  The matrices here have
// negative diagonals of size 1 and more: no pivoting is needed, only checked.
bool eliminate(Matrix& m, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!(std::abs(m[i][i]) > 1e-9)) return false;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = m[r][i] / m[i][i];
      for (std::size_t c = i; c <= n; ++c) m[r][c] -= factor * m[i][c];
    }
  }
  for (std::size_t i = 0; i < n; ++i) m[i][n] /= m[i][i];
  return true;
}

}  // namespace

LoadSolver::LoadSolver(const MachineModel& machine) noexcept : machine_(machine) {
  CXLTIER_CHECK(machine.tier_count >= 1 && machine.tier_count <= tiers_max);
  for (std::size_t t = 0; t < machine.tier_count; ++t) {
    result_.latency_ns[t] = machine.tiers[t].idle_ns;
  }
}

// Rates, utilisations and curves at result_.latency_ns.
void LoadSolver::evaluate(const Load& load) noexcept {
  PerTier<double> traffic = load.migration_gbps;
  for (std::size_t c = 0; c < load.class_count; ++c) {
    const ClassLoad& now = load.classes[c];
    double cycle = now.think_ns;
    for (std::size_t t = 0; t < machine_.tier_count; ++t) {
      cycle += now.share[t] * result_.latency_ns[t];
    }
    result_.rate[c] = now.lines / cycle;
    for (std::size_t t = 0; t < machine_.tier_count; ++t) {
      traffic[t] += line_bytes * result_.rate[c] * now.share[t] * now.weight[t];
    }
  }
  if (load.background_lines > 0) {
    traffic[0] += line_bytes * load.background_weight * load.background_lines /
                  (result_.latency_ns[0] + load.background_think_ns);
  }
  for (std::size_t t = 0; t < machine_.tier_count; ++t) {
    // A share that lost all its leaves may be 0 less a rounding.
    result_.utilisation[t] = std::max(0.0, traffic[t]) / machine_.tiers[t].bandwidth_gbps;
    curve_[t] = curve_at(machine_.tiers[t], result_.utilisation[t]);
  }
}

double LoadSolver::excess(std::size_t tier) const noexcept {
  return curve_[tier].latency_ns - result_.latency_ns[tier];
}

bool LoadSolver::newton(const Load& load) noexcept {
  const std::size_t n = machine_.tier_count;
  for (int step = 0; step < newton_steps_max; ++step) {
    evaluate(load);
    double error = 0;
    for (std::size_t t = 0; t < n; ++t) {
      error = std::max(error, std::abs(excess(t)) / result_.latency_ns[t]);
    }
    if (error < tolerance) return true;
    Matrix m{};
    for (std::size_t i = 0; i < n; ++i) {
      const double gain = curve_[i].slope / machine_.tiers[i].bandwidth_gbps;
      m[i][i] = -1;
      for (std::size_t c = 0; c < load.class_count; ++c) {
        const ClassLoad& now = load.classes[c];
        if (now.lines <= 0) continue;
        const double bend = gain * line_bytes * now.share[i] * now.weight[i] * result_.rate[c] *
                            result_.rate[c] / now.lines;
        for (std::size_t j = 0; j < n; ++j) m[i][j] -= bend * now.share[j];
      }
      m[i][n] = -excess(i);
    }
    if (load.background_lines > 0) {
      const double cycle = result_.latency_ns[0] + load.background_think_ns;
      m[0][0] -= curve_[0].slope / machine_.tiers[0].bandwidth_gbps * line_bytes *
                 load.background_weight * load.background_lines / (cycle * cycle);
    }
    if (!eliminate(m, n)) return false;
    for (std::size_t t = 0; t < n; ++t) {
      const double now = result_.latency_ns[t];
      const double lowest = std::max(machine_.tiers[t].idle_ns, now / 2);
      result_.latency_ns[t] = std::clamp(now + m[t][n], lowest, std::max(lowest, now * 2));
    }
  }
  return false;
}

// Finds the latency of `tier` with those of all later tiers solved inside.
void LoadSolver::bisect(const Load& load, std::size_t tier) noexcept {
  if (tier == machine_.tier_count) return evaluate(load);
  double low = machine_.tiers[tier].idle_ns;
  double high = low * 100'000;
  for (int step = 0; step < bisection_steps; ++step) {
    result_.latency_ns[tier] = (low + high) / 2;
    bisect(load, tier + 1);
    (excess(tier) > 0 ? low : high) = result_.latency_ns[tier];
  }
}

const LoadResult& LoadSolver::solve(const Load& load) noexcept {
  CXLTIER_CHECK_DEBUG(load.class_count <= classes_max);
  if (newton(load)) return result_;
  for (std::size_t t = 0; t < machine_.tier_count; ++t) {
    result_.latency_ns[t] = machine_.tiers[t].idle_ns;
  }
  if (!newton(load)) bisect(load, 0);
  return result_;
}

}  // namespace cxltier::simulator
