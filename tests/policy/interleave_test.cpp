// SPDX-License-Identifier: Apache-2.0
//
// Weights against a search over all weights, bandwidth against its formula, slots against counting.
#include "policy/interleave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

namespace cxltier {
namespace {

double carried(const std::vector<std::uint32_t>& weights,
               const std::array<std::uint32_t, tiers_max>& mbps) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double least = 1e18;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (weights[t] > 0) least = std::min(least, mbps[t] * sum / weights[t]);
  }
  return least;
}

TEST(Interleave, WeightsCarryAllButAFewPercentOfAllBandwidth) {
  std::printf("seed 17\n");
  std::mt19937_64 random(17);
  for (int round = 0; round < 300; ++round) {
    std::array<std::uint32_t, tiers_max> mbps{};
    const std::size_t tiers = 2 + random() % 2;
    std::uint32_t most = 0;
    for (std::size_t t = 0; t < tiers; ++t) {
      mbps[t] = static_cast<std::uint32_t>(20'000 + random() % 300'000);
      most = std::max(most, mbps[t]);
    }
    const Weights weights = solve_weights(mbps, tiers);
    const std::vector<std::uint32_t> used(weights.begin(),
                                          weights.begin() + static_cast<std::ptrdiff_t>(tiers));
    double best = 0;  // over all pairs up to 32, the third as the rounding wants it
    for (std::uint32_t a = 1; a < 32; ++a) {
      for (std::uint32_t b = 1; a + b <= 32; ++b) {
        if (tiers == 2) best = std::max(best, carried({a, b}, mbps));
      }
    }
    if (tiers == 2) {
      EXPECT_GE(carried(used, mbps), 0.999 * best) << mbps[0] << " " << mbps[1];
    }
    EXPECT_GE(carried(used, mbps), most) << "worse than the fastest alone";
    EXPECT_EQ(std::gcd(used[0], std::gcd(used[1], tiers > 2 ? used[2] : used[0])), 1u);
  }
}

TEST(Interleave, EqualTiersShareEqually) {
  EXPECT_EQ(solve_weights({100, 100}, 2)[0], 1);
  EXPECT_EQ(solve_weights({100, 100}, 2)[1], 1);
  EXPECT_EQ(solve_weights({}, 3)[2], 1) << "nothing known: all the same";
  EXPECT_EQ(solve_weights({100, 0}, 2)[1], 0);
}

TEST(Interleave, WritesSlowABusAndHelpALink) {
  const Bandwidth bus{.read_mbps = 200'000, .write_mbps = 100'000, .duplex = Duplex::half};
  EXPECT_EQ(bandwidth_at(bus, 0), 200'000u);
  EXPECT_EQ(bandwidth_at(bus, 256), 100'000u);
  EXPECT_NEAR(bandwidth_at(bus, 128), 133'333, 1);
  const Bandwidth link{.read_mbps = 24'000, .write_mbps = 24'000, .duplex = Duplex::full};
  EXPECT_EQ(bandwidth_at(link, 128), 48'000u);
  EXPECT_EQ(bandwidth_at(link, 0), 24'000u);
  EXPECT_GT(bandwidth_at(link, 64), bandwidth_at(link, 0));
}

TEST(Interleave, WritesShiftTheWeightsToTheLink) {
  const Bandwidth bus{.read_mbps = 100'000, .write_mbps = 60'000, .duplex = Duplex::half};
  const Bandwidth link{.read_mbps = 25'000, .write_mbps = 25'000, .duplex = Duplex::full};
  const auto weights_at = [&](std::uint16_t w) {
    return solve_weights({bandwidth_at(bus, w), bandwidth_at(link, w)}, 2);
  };
  const Weights reads = weights_at(0);
  const Weights mixed = weights_at(85);
  EXPECT_GT(mixed[1] * reads[0], reads[1] * mixed[0]);
}

TEST(Interleave, AnyNumberOfSlotsIsSpreadEvenly) {
  for (std::uint32_t k = 1; k <= slots; ++k) {
    std::uint32_t chosen = 0;
    std::uint32_t gap = 0;
    std::uint32_t longest = 0;
    for (std::uint32_t leaf = 0; leaf < 4 * slots; ++leaf) {
      const bool is_in = slot_of(leaf) < k;
      chosen += is_in ? 1 : 0;
      gap = is_in ? 0 : gap + 1;
      longest = std::max(longest, gap);
    }
    EXPECT_EQ(chosen, 4 * k);
    EXPECT_LE(longest, 2 * slots / k) << k;
  }
}

}  // namespace
}  // namespace cxltier
