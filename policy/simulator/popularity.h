// SPDX-License-Identifier: Apache-2.0
//
// How accesses spread over leaves: the shapes that workloads are made of.
//
// Pure: same arguments, same shares, which sum to 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/simulator/workload.h"

namespace cxltier::simulator {

// Leaves from a first one on, in the order of `order` and around its end.
struct LeafRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// 0 to count - 1, shuffled.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed);

[[nodiscard]] Popularity uniform_over(std::size_t leaves);
// The same for each leaf of a range of `order`, nothing elsewhere.
[[nodiscard]] Popularity uniform_over(const std::vector<std::uint32_t>& order, LeafRange range);
// a of one, 1 - a of the other.
[[nodiscard]] Popularity mixed(const Popularity& one, double a, const Popularity& other);
// Items with Zipf's law of exponent `skew`, in the order of `order`: the first leaf holds the most
// popular ones.  `items` per leaf.
[[nodiscard]] Popularity zipf_clustered(const std::vector<std::uint32_t>& order, double skew,
                                        std::uint64_t items);
// The same items, each on a random leaf: hashing removes most skew between leaves.
[[nodiscard]] Popularity zipf_scrambled(std::size_t leaves, double skew, std::uint64_t items,
                                        std::uint64_t seed);

}  // namespace cxltier::simulator
