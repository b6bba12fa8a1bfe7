// SPDX-License-Identifier: Apache-2.0
//
// Latency and throughput under load, where each decides the other.
//
// An application keeps a fixed number of cache lines outstanding (its closed loop), so it gets as
// many as the latency lets it, and the latency of a tier grows with what all get from it:
//
//   X_c = N_c / (sum_i p_ci L_i + t_c)            lines/ns of class c
//   Y   = N_b / (L_0 + t_b)                       lines/ns of the streams beside it, on tier 0
//   L_i = curve_i((64 (sum_c X_c p_ci w_ci + Y w_b) + M_i) / B_i)
//
// M_i is migration, w weighs writes.  Each L_i falls where another rises, and the right side falls
// in L_i, so there is one solution; Newton finds it in a few steps from a near one, and nested
// bisection where Newton does not.  Pure; one LoadSolver per thread.
#pragma once

#include <array>
#include <cstddef>

#include "policy/simulator/machine_model.h"

namespace cxltier::simulator {

inline constexpr std::size_t classes_max = 4;

struct ClassLoad {
  double lines = 0;          // outstanding, N
  double think_ns = 0;       // between the end of one access and the next, t
  PerTier<double> share{};   // of its accesses, p; sums to 1
  PerTier<double> weight{};  // of a byte of its traffic on each tier, w
};

struct Load {
  std::size_t class_count = 0;
  std::array<ClassLoad, classes_max> classes{};
  double background_lines = 0;
  double background_think_ns = 0;
  double background_weight = 1;
  PerTier<double> migration_gbps{};  // M, weighed already
};

struct LoadResult {
  PerTier<double> latency_ns{};
  PerTier<double> utilisation{};
  std::array<double, classes_max> rate{};  // lines/ns, X
};

class LoadSolver {
 public:
  explicit LoadSolver(const MachineModel& machine) noexcept;

  // Relative error of latencies below 1e-10.  The last result is where the next search starts.
  [[nodiscard]] const LoadResult& solve(const Load& load) noexcept;

 private:
  [[nodiscard]] bool newton(const Load& load) noexcept;
  void bisect(const Load& load, std::size_t tier) noexcept;
  void evaluate(const Load& load) noexcept;
  [[nodiscard]] double excess(std::size_t tier) const noexcept;

  MachineModel machine_;
  LoadResult result_;
  PerTier<CurveValue> curve_{};
};

}  // namespace cxltier::simulator
