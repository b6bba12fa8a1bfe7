// SPDX-License-Identifier: Apache-2.0
//
// Shares to small whole weights, and the climb from one weighing to a better one.
#include "bench/tier/verdict/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "policy/check.h"

namespace cxltier::bench {
namespace {

constexpr double share_error_most = 0.01;
constexpr double kernel_weightiness = 32;  // mm/mempolicy.c
// Steps of a climb: coarse ones leave a bad start quickly, the last is below the 1 point to which
// weights are rounded.
constexpr std::array steps = {0.10, 0.05, 0.02, 0.01};

// Largest remainders: the whole numbers that sum to `total` and lie nearest to the shares.
Weights rounded(std::span<const double> shares, unsigned total) {
  Weights weights(shares.size());
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  unsigned given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    weights[i] = static_cast<unsigned>(shares[i] * total + 1e-9);
    given += weights[i];
  }
  const auto remainder = [&](std::size_t i) { return shares[i] * total - weights[i]; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
  for (std::size_t k = 0; given < total; ++k, ++given) ++weights[order[k % order.size()]];
  return weights;
}

double error_of(std::span<const double> shares, const Weights& weights) {
  const std::vector<double> got = shares_of(weights);
  double worst = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    worst = std::max(worst, std::abs(got[i] - shares[i]));
  }
  return worst;
}

void reduce(Weights& weights) {
  unsigned divisor = 0;
  for (const unsigned weight : weights) divisor = std::gcd(divisor, weight);
  if (divisor > 1) {
    for (unsigned& weight : weights) weight /= divisor;
  }
}

class Climb {
 public:
  Climb(const std::function<double(const Weights&)>& measure, const WeightLimits& limits)
      : measure_(measure), limits_(limits) {}

  WeighedBandwidth weigh(const Weights& weights) {
    for (const WeighedBandwidth& known : tried_) {
      if (known.weights == weights) return known;
    }
    tried_.push_back({weights, measure_(weights)});
    return tried_.back();
  }
  [[nodiscard]] bool may_try() const { return tried_.size() < limits_.tries_most; }
  [[nodiscard]] const std::vector<WeighedBandwidth>& tried() const { return tried_; }

  // Moves `step` from any tier to any other as long as that helps.
  void climb(std::vector<double>& shares, WeighedBandwidth& best, double step) {
    for (bool grew = true; grew && may_try();) {
      grew = false;
      for (std::size_t to = 0; to < shares.size() && !grew; ++to) {
        for (std::size_t from = 0; from < shares.size() && !grew; ++from) {
          grew = from != to && may_try() && move(shares, best, {from, to, step});
        }
      }
    }
  }

 private:
  struct Move {
    std::size_t from = 0;
    std::size_t to = 0;
    double step = 0;
  };

  bool move(std::vector<double>& shares, WeighedBandwidth& best, const Move& move) {
    std::vector<double> next = shares;
    const double moved = std::min(move.step, next[move.from]);
    next[move.from] -= moved;
    next[move.to] += moved;
    const Weights weights = weights_of(next, limits_.total_most);
    if (weights == best.weights) return false;
    const WeighedBandwidth found = weigh(weights);
    if (found.gbps <= best.gbps * (1 + limits_.gain_least)) return false;
    best = found;
    shares = next;
    return true;
  }

  const std::function<double(const Weights&)>& measure_;
  const WeightLimits& limits_;
  std::vector<WeighedBandwidth> tried_;
};

}  // namespace

std::vector<double> shares_of(const Weights& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> shares;
  for (const unsigned weight : weights) shares.push_back(total > 0 ? weight / total : 0);
  return shares;
}

Weights weights_of(std::span<const double> shares, unsigned total_most) {
  Weights nearest;
  double error_least = std::numeric_limits<double>::max();
  for (unsigned total = 1; total <= total_most; ++total) {
    Weights weights = rounded(shares, total);
    const double error = error_of(shares, weights);
    if (error >= error_least) continue;
    error_least = error;
    nearest = std::move(weights);
    if (error <= share_error_most) break;
  }
  reduce(nearest);
  return nearest;
}

Weights kernel_weights(std::span<const double> alone) {
  const double total = std::accumulate(alone.begin(), alone.end(), 0.0);
  Weights weights;
  for (const double gbps : alone) {
    const double part = total > 0 ? gbps / total * kernel_weightiness : 1;
    weights.push_back(std::max(1u, static_cast<unsigned>(std::lround(part))));
  }
  reduce(weights);
  return weights;
}

WeightSearch find_weights(std::span<const double> alone,
                          const std::function<double(const Weights&)>& measure,
                          const WeightLimits& limits) {
  const double total = std::accumulate(alone.begin(), alone.end(), 0.0);
  CXLTIER_CHECK(!alone.empty() && total > 0);
  std::vector<double> shares;
  for (const double gbps : alone) shares.push_back(gbps / total);

  Climb climb(measure, limits);
  WeightSearch search;
  Weights first(alone.size(), 0);
  first[0] = 1;
  search.first = climb.weigh(first);
  search.equal = climb.weigh(Weights(alone.size(), 1));
  search.start = climb.weigh(weights_of(shares, limits.total_most));
  search.best = search.start;
  for (const double step : steps) climb.climb(shares, search.best, step);
  search.tried = climb.tried();
  // The greatest of all that was measured: all on one tier may beat every mixture.
  for (const WeighedBandwidth& other : search.tried) {
    if (other.gbps > search.best.gbps * (1 + limits.gain_least)) search.best = other;
  }
  return search;
}

std::string text_of(const Weights& weights) {
  std::string text;
  for (const unsigned weight : weights) {
    if (!text.empty()) text += ':';
    text += std::to_string(weight);
  }
  return text;
}

}  // namespace cxltier::bench
