// SPDX-License-Identifier: Apache-2.0
//
// Interleave weights: which share of the pages each tier should get, so that all tiers together
// give the most bandwidth.
//
// Pages dealt in shares s load the tiers in shares s, so the slowest one for its share sets the
// pace:
//
//   total(s) = min over tiers of B_i / s_i          greatest where s_i is in proportion to B_i
//
// That is where the search starts, from each tier's own bandwidth for the mix.  Tiers are not
// independent, though: CXL traffic can slow DRAM down by its queues, and mixes cost CXL less than
// DRAM.  So the shares are then moved from tier to tier as long as the measured total grows, and
// the weights that come out have been measured as they are printed.
//
// Pure: what measures is a function.  The search is greedy: of two hills it finds the one on which
// it starts.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cxltier::bench {

using Weights = std::vector<unsigned>;  // one per tier; 0: nothing there

struct WeighedBandwidth {
  Weights weights;
  double gbps = 0;
};

struct WeightSearch {
  WeighedBandwidth best;
  WeighedBandwidth start;               // the weights in proportion to the bandwidths
  WeighedBandwidth equal;               // 1:1: the trap
  WeighedBandwidth first;               // the first tier alone
  std::vector<WeighedBandwidth> tried;  // in order
};

struct WeightLimits {
  unsigned total_most = 32;   // of all weights: a period of so many pages
  double gain_least = 0.005;  // what counts as growth; above the noise of a measurement
  std::size_t tries_most = 40;
};

// `measure` is asked for each weighing once.  `alone` is the bandwidth of each tier by itself.
// pre: at least one tier, all bandwidths >= 0, one above 0
[[nodiscard]] WeightSearch find_weights(std::span<const double> alone,
                                        const std::function<double(const Weights&)>& measure,
                                        const WeightLimits& limits);

// The smallest weights whose shares are within 1 point of `shares`; with `total_most` reached, the
// nearest.  pre: shares sum to 1
[[nodiscard]] Weights weights_of(std::span<const double> shares, unsigned total_most);
[[nodiscard]] std::vector<double> shares_of(const Weights& weights);

// What the kernel (mm/mempolicy.c, Linux 6.16 and later) sets by itself from the bandwidths: parts
// of 32, at least 1, divided by their greatest common divisor.
[[nodiscard]] Weights kernel_weights(std::span<const double> alone);

// "3:1:1"
[[nodiscard]] std::string text_of(const Weights& weights);

}  // namespace cxltier::bench
