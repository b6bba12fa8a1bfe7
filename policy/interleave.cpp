// SPDX-License-Identifier: Apache-2.0
//
// The search over weight sums is exhaustive: 32 sums of at most 8 tiers.
#include "policy/interleave.h"

#include <algorithm>
#include <numeric>

#include "policy/check.h"

namespace cxltier {
namespace {

std::uint64_t sum_of(const std::array<std::uint32_t, tiers_max>& mbps, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < count; ++t) sum += mbps[t];
  return sum;
}

Weights scaled(const std::array<std::uint32_t, tiers_max>& mbps, std::size_t count,
               std::uint32_t to) {
  const std::uint64_t all = sum_of(mbps, count);
  Weights weights{};
  for (std::size_t t = 0; t < count; ++t) {
    if (mbps[t] == 0) continue;
    const std::uint64_t rounded = (std::uint64_t{mbps[t]} * to + all / 2) / all;
    weights[t] = static_cast<std::uint8_t>(std::max<std::uint64_t>(1, rounded));
  }
  return weights;
}

// What all tiers together carry, in MB/s: the first that is full stops the others.
std::uint64_t carried_by(const Weights& weights, const std::array<std::uint32_t, tiers_max>& mbps,
                         std::size_t count) {
  std::uint64_t least = ~std::uint64_t{0};
  const auto sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  for (std::size_t t = 0; t < count; ++t) {
    if (weights[t] != 0) least = std::min(least, mbps[t] * sum / weights[t]);
  }
  return least;
}

}  // namespace

std::uint32_t bandwidth_at(const Bandwidth& tier, std::uint16_t write_share_256) noexcept {
  CXLTIER_CHECK_DEBUG(write_share_256 <= 256);
  const std::uint64_t read = tier.read_mbps;
  const std::uint64_t write = tier.write_mbps == 0 ? read : tier.write_mbps;
  const std::uint64_t w = std::min<std::uint64_t>(write_share_256, 256);
  if (read == 0) return 0;
  if (tier.duplex == Duplex::full) {
    const std::uint64_t by_reads = w == 256 ? ~std::uint64_t{0} : read * 256 / (256 - w);
    const std::uint64_t by_writes = w == 0 ? ~std::uint64_t{0} : write * 256 / w;
    return static_cast<std::uint32_t>(std::min({by_reads, by_writes, read + write}));
  }
  return static_cast<std::uint32_t>(256 * read * write / ((256 - w) * write + w * read));
}

Weights solve_weights(const std::array<std::uint32_t, tiers_max>& mbps,
                      std::size_t tier_count) noexcept {
  CXLTIER_CHECK_DEBUG(tier_count >= 1 && tier_count <= tiers_max);
  Weights best{};
  if (sum_of(mbps, tier_count) == 0) {
    std::fill_n(best.begin(), tier_count, std::uint8_t{1});
    return best;
  }
  std::uint64_t most = 0;
  for (auto sum = static_cast<std::uint32_t>(tier_count); sum <= weight_sum_max; ++sum) {
    const Weights tried = scaled(mbps, tier_count, sum);
    const std::uint64_t carried = carried_by(tried, mbps, tier_count);
    if (carried <= most) continue;
    most = carried;
    best = tried;
  }
  std::uint32_t divisor = 0;
  for (const std::uint8_t weight : best) divisor = std::gcd(divisor, std::uint32_t{weight});
  for (std::uint8_t& weight : best) weight = static_cast<std::uint8_t>(weight / divisor);
  return best;
}

std::uint32_t slot_of(std::uint32_t leaf) noexcept {
  std::uint32_t reversed = 0;
  for (std::uint32_t bit = 1; bit < slots; bit <<= 1) {
    reversed = reversed << 1 | ((leaf & bit) != 0 ? 1 : 0);
  }
  return reversed;
}

}  // namespace cxltier
