// SPDX-License-Identifier: Apache-2.0
//
// A memory system without hardware: closed-loop latency of loaded tiers, in doubles.
//
//     L[i] = L0[i] (1 + c[i] u^k / (1 - u)),   u = min(0.99, bytes per ns on tier i / B[i])
//     X = N / (sum p[i] L[i] + t_app)          lines per ns of the application
//     Y = 64 N_bg / (L[0] + t_bg)              bytes per ns of an antagonist on tier 0
//
// The presets reproduce the table of Colloid (SOSP 2024, artifact README): GUPS on an Ice Lake box
// with 0 to 3 times five antagonist cores.  Fixed point by damped iteration, which is exact enough
// for a test: the fake is solved anew in each tick.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cxltier::testing {

struct FakeTier {
  double idle_ns = 70;
  double gbps = 205;  // bytes per ns
  double c = 1.25;
  double extra_gbps = 0;  // moves
};

struct FakeMemory {
  std::vector<FakeTier> tiers;
  double k = 7;
  double outstanding = 155;
  double app_ns = 5;
  double antagonist = 0;  // outstanding lines
  double antagonist_ns = 80;

  // Latencies in ns if the application's shares are `p`.
  [[nodiscard]] std::vector<double> latencies(const std::vector<double>& p) const {
    std::vector<double> latency;
    for (const FakeTier& tier : tiers) latency.push_back(tier.idle_ns);
    for (int round = 0; round < 600; ++round) {
      const double lines = outstanding / (mean(p, latency) + app_ns);
      for (std::size_t t = 0; t < tiers.size(); ++t) {
        const FakeTier& tier = tiers[t];
        const double background = t == 0 ? 64 * antagonist / (latency[0] + antagonist_ns) : 0;
        const double load = (64 * lines * p[t] + background + tier.extra_gbps) / tier.gbps;
        const double u = std::min(0.99, load);
        const double wanted = tier.idle_ns * (1 + tier.c * std::pow(u, k) / (1 - u));
        latency[t] += 0.05 * (std::min(wanted, 80 * tier.idle_ns) - latency[t]);
      }
    }
    return latency;
  }

  [[nodiscard]] static double mean(const std::vector<double>& p,
                                   const std::vector<double>& latency) {
    double sum = 0;
    for (std::size_t t = 0; t < p.size(); ++t) sum += p[t] * latency[t];
    return sum;
  }

  // Lines per ns.
  [[nodiscard]] double throughput(const std::vector<double>& p) const {
    return outstanding / (mean(p, latencies(p)) + app_ns);
  }

  // The best throughput of two tiers with at most `p_max` on the first.
  [[nodiscard]] double best(double p_max) const {
    double most = 0;
    for (int i = 0; i <= 200; ++i) {
      const double p = p_max * i / 200;
      most = std::max(most, throughput({p, 1 - p}));
    }
    return most;
  }
};

// Fits A and B of the published table; `slow_ns` is 135, 148, 168 or 192, `load` 0 to 3.
inline FakeMemory colloid_fit_a(double slow_ns, int load) {
  return {.tiers = {{.idle_ns = 70, .gbps = 205, .c = 1.25},
                    {.idle_ns = slow_ns, .gbps = 84.9, .c = 0.05}},
          .k = 7,
          .outstanding = 155,
          .app_ns = 5,
          .antagonist = 69.6 * 5 * load};
}
inline FakeMemory colloid_fit_b(double slow_ns, int load) {
  return {.tiers = {{.idle_ns = 70, .gbps = 205, .c = 0.54},
                    {.idle_ns = slow_ns, .gbps = 90, .c = 0.125}},
          .k = 1,
          .outstanding = 136,
          .app_ns = 0,
          .antagonist = 80.0 * 5 * load};
}

}  // namespace cxltier::testing
