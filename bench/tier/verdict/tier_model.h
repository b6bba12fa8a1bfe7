// SPDX-License-Identifier: Apache-2.0
//
// A machine made of formulas: loaded latency and bandwidth of tiers that are used in shares.
//
// Each tier answers after its idle latency until it is busy, then later (the M/D/1-like curve that
// published measurements have); cores keep a fixed number of lines under way, so by Little's law
// the total bandwidth X solves
//
//   X * sum over i of s_i * L_i(s_i * X) = lines * 64 bytes
//
// For tests of the weight finder, where the true optimum can be found by trying all shares, and for
// nothing that is printed.  Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace cxltier::bench {

struct ModelTier {
  double idle_ns = 100;
  double peak_gbps = 100;
};

struct TierModel {
  std::vector<ModelTier> tiers;
  double lines = 1000;      // under way, all cores together
  double interference = 0;  // share of the first tier's peak lost when all others are saturated

  [[nodiscard]] double latency_ns(const ModelTier& tier, double gbps, double peak_gbps) const {
    const double use = gbps / peak_gbps;
    if (use >= 1) return std::numeric_limits<double>::infinity();
    return tier.idle_ns * (1 + 0.5 * use * use / (1 - use));
  }

  // The most bandwidth with pages dealt in these shares, by bisection.
  [[nodiscard]] double total_gbps(std::span<const double> shares) const {
    double low = 0;
    double high = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < tiers.size(); ++i) {
      if (shares[i] > 0) high = std::min(high, tiers[i].peak_gbps / shares[i]);
    }
    for (int step = 0; step < 80; ++step) {
      const double total = (low + high) / 2;
      (bytes_under_way(shares, total) > lines * 64 ? high : low) = total;
    }
    return low;
  }

 private:
  [[nodiscard]] double bytes_under_way(std::span<const double> shares, double total) const {
    double others = 0;
    for (std::size_t i = 1; i < tiers.size(); ++i) {
      others = std::max(others, shares[i] * total / tiers[i].peak_gbps);
    }
    double bytes = 0;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
      if (shares[i] <= 0) continue;
      const double lost = i == 0 ? interference * std::min(others, 1.0) : 0;
      const double gbps = shares[i] * total;
      bytes += gbps * latency_ns(tiers[i], gbps, tiers[i].peak_gbps * (1 - lost));
    }
    return bytes;
  }
};

}  // namespace cxltier::bench
