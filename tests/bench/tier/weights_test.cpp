// SPDX-License-Identifier: Apache-2.0
//
// The weight finder on modelled machines: its weights give at least 98 % of what the best of all
// shares gives, and 1:1 gives less than DRAM alone where the tiers are unequal.
#include "bench/tier/verdict/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/tier/kernel/random.h"
#include "bench/tier/verdict/tier_model.h"

namespace cxltier::bench {
namespace {

// Tries every share in steps of half a point.
double best_of_two(const TierModel& model) {
  double best = 0;
  for (int i = 0; i <= 200; ++i) {
    const std::vector<double> shares = {i / 200.0, 1 - i / 200.0};
    best = std::max(best, model.total_gbps(shares));
  }
  return best;
}

double best_of_three(const TierModel& model) {
  double best = 0;
  for (int i = 0; i <= 50; ++i) {
    for (int j = 0; i + j <= 50; ++j) {
      best = std::max(
          best, model.total_gbps(std::vector<double>{i / 50.0, j / 50.0, (50 - i - j) / 50.0}));
    }
  }
  return best;
}

WeightSearch search(const TierModel& model) {
  std::vector<double> alone;
  for (std::size_t i = 0; i < model.tiers.size(); ++i) {
    std::vector<double> shares(model.tiers.size(), 0.0);
    shares[i] = 1;
    alone.push_back(model.total_gbps(shares));
  }
  return find_weights(
      alone, [&](const Weights& weights) { return model.total_gbps(shares_of(weights)); }, {});
}

struct MixModel {
  const char* mix;
  double dram_gbps;
  double cxl_gbps;
};

// Bandwidth per mix as published for one quarter of an Intel socket and an ASIC expander (EuroSys
// 2024), and for a server with four small expanders against DRAM of 12 channels.
constexpr MixModel published[] = {
    {"R", 69.3, 48.0},    {"2:1", 61.5, 54.2},   {"3:1", 62.6, 54.5},   {"3:2", 61.4, 52.9},
    {"1:1", 59.7, 54.7},  {"W-nt", 58.1, 47.1},  {"2:1nt", 62.8, 56.4}, {"1:1nt", 60.5, 52.9},
    {"R, wide", 497, 48}, {"1:1, wide", 439, 42}};

void expect_near_best(const MixModel& mix, double lines, double interference) {
  const TierModel model{{{100, mix.dram_gbps}, {250, mix.cxl_gbps}}, lines, interference};
  const WeightSearch found = search(model);
  EXPECT_GE(found.best.gbps, 0.98 * best_of_two(model))
      << mix.mix << " lines " << lines << " interference " << interference << " weights "
      << text_of(found.best.weights);
}

TEST(Weights, WithinTwoPercentOfTheBestForEachMix) {
  for (const MixModel& mix : published) {
    for (const double lines : {200.0, 1000.0, 6000.0}) {
      for (const double interference : {0.0, 0.3}) expect_near_best(mix, lines, interference);
    }
  }
}

TEST(Weights, WithinTwoPercentOverThreeTiersFromAnySeed) {
  Random random(21);
  for (int trial = 0; trial < 40; ++trial) {
    const TierModel model{{{100, 100 + 400 * random.unit()},
                           {180, 40 + 200 * random.unit()},
                           {300, 15 + 60 * random.unit()}},
                          1000 + 8000 * random.unit(),
                          0.2 * random.unit()};
    const WeightSearch found = search(model);
    EXPECT_GE(found.best.gbps, 0.98 * best_of_three(model))
        << trial << " weights " << text_of(found.best.weights);
    EXPECT_LE(found.tried.size(), WeightLimits{}.tries_most + 1);
  }
}

// The published trap: 298.8 GB/s from DRAM alone, 113.0 dealt 1:1.
TEST(Weights, OneToOneIsATrapWhereTiersAreUnequal) {
  const TierModel model{{{110, 300}, {250, 56}}, 6000, 0};
  const WeightSearch found = search(model);
  EXPECT_LT(found.equal.gbps, 0.5 * found.first.gbps);
  EXPECT_GT(found.best.gbps, 1.1 * found.first.gbps);
}

TEST(Weights, AllOnOneTierWhenTheOtherOnlyHinders) {
  // Few lines under way: what counts is latency, and the slow tier only adds to it.
  const TierModel model{{{100, 300}, {400, 20}}, 40, 0};
  const WeightSearch found = search(model);
  EXPECT_EQ(text_of(found.best.weights), "1:0");
}

TEST(Weights, NoiseDoesNotLeadFarAstray) {
  Random random(9);
  const TierModel model{{{100, 300}, {250, 60}}, 6000, 0};
  const auto noisy = [&](const Weights& weights) {
    return model.total_gbps(shares_of(weights)) * (1 + 0.02 * (random.unit() - 0.5));
  };
  for (int trial = 0; trial < 20; ++trial) {
    const WeightSearch found = find_weights(std::vector<double>{300, 60}, noisy, {});
    EXPECT_GE(model.total_gbps(shares_of(found.best.weights)), 0.95 * best_of_two(model));
  }
}

TEST(Weights, SmallNumbersForShares) {
  EXPECT_EQ(text_of(weights_of(std::vector<double>{0.75, 0.25}, 32)), "3:1");
  EXPECT_EQ(text_of(weights_of(std::vector<double>{0.5, 0.5}, 32)), "1:1");
  EXPECT_EQ(text_of(weights_of(std::vector<double>{1, 0}, 32)), "1:0");
  EXPECT_EQ(text_of(weights_of(std::vector<double>{0.6, 0.3, 0.1}, 32)), "6:3:1");
  const Weights weights = weights_of(std::vector<double>{0.9275, 0.0725}, 32);
  EXPECT_NEAR(shares_of(weights)[0], 0.9275, 0.01);
}

// Measured on Linux 7.3.4 with HMAT bandwidths of 204,800 and 16,000 MB/s.
TEST(Weights, TheKernelsOwn) {
  EXPECT_EQ(text_of(kernel_weights(std::vector<double>{204.8, 16.0})), "15:1");
}

}  // namespace
}  // namespace cxltier::bench
