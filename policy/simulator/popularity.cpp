// SPDX-License-Identifier: Apache-2.0
//
// Uniform, mixed and Zipf shares.
#include "policy/simulator/popularity.h"

#include <numeric>
#include <utility>

#include "policy/check.h"
#include "policy/simulator/arithmetic.h"
#include "policy/simulator/random.h"

namespace cxltier::simulator {
namespace {

constexpr std::uint64_t shuffle_stream = 101;
constexpr std::uint64_t scramble_stream = 102;

void normalise(Popularity& popularity) {
  const double sum = std::accumulate(popularity.begin(), popularity.end(), 0.0);
  CXLTIER_CHECK(sum > 0);
  for (double& share : popularity) share /= sum;
}

// Sum of rank^-skew over (first, last], by its integral between half points: exact to 1e-4 already
// for the first ranks, and cheap for a billion of them.
double zipf_mass(double first, double last, double skew) {
  if (skew == 1) return log_of((last + 0.5) / (first + 0.5));
  const double power = 1 - skew;
  return (power_of(last + 0.5, power) - power_of(first + 0.5, power)) / power;
}

}  // namespace

std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed, shuffle_stream);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Popularity uniform_over(std::size_t leaves) {
  return Popularity(leaves, 1.0 / static_cast<double>(leaves));
}

Popularity uniform_over(const std::vector<std::uint32_t>& order, LeafRange range) {
  CXLTIER_CHECK(range.count > 0 && range.count <= order.size());
  Popularity popularity(order.size());
  for (std::size_t i = 0; i < range.count; ++i) {
    popularity[order[(range.first + i) % order.size()]] = 1.0 / static_cast<double>(range.count);
  }
  return popularity;
}

Popularity mixed(const Popularity& one, double a, const Popularity& other) {
  Popularity popularity(one.size());
  for (std::size_t leaf = 0; leaf < one.size(); ++leaf) {
    popularity[leaf] = a * one[leaf] + (1 - a) * other[leaf];
  }
  return popularity;
}

Popularity zipf_clustered(const std::vector<std::uint32_t>& order, double skew,
                          std::uint64_t items) {
  Popularity popularity(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double first = static_cast<double>(i * items);
    popularity[order[i]] = zipf_mass(first, first + static_cast<double>(items), skew);
  }
  normalise(popularity);
  return popularity;
}

// The most popular items are dealt one by one; the others, of which each leaf gets thousands, give
// every leaf the same.
Popularity zipf_scrambled(std::size_t leaves, double skew, std::uint64_t items,
                          std::uint64_t seed) {
  constexpr std::uint64_t dealt = 65'536;
  const auto all = static_cast<double>(leaves * items);
  Random random(seed, scramble_stream);
  const double rest = zipf_mass(dealt, all, skew) / static_cast<double>(leaves);
  Popularity popularity(leaves, rest);
  for (std::uint64_t rank = 0; rank < dealt; ++rank) {
    const auto first = static_cast<double>(rank);
    popularity[random.below(leaves)] += zipf_mass(first, first + 1, skew);
  }
  normalise(popularity);
  return popularity;
}

}  // namespace cxltier::simulator
