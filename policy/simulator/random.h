// SPDX-License-Identifier: Apache-2.0
//
// Random numbers by counter: a number depends on the seed and on what it is for (stream, tick,
// leaf), never on what was drawn before, so that no order of work and no thread count changes it.
// Pure: any thread.
#pragma once

#include <cstdint>

namespace cxltier::simulator {

// A bijection of 64 bits in which every input bit reaches every output bit (splitmix64's, public
// domain, Vigna 2015).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

// A short sequence of random numbers for one purpose.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t tick = 0,
                   std::uint64_t leaf = 0) noexcept
      : key_(mix_bits(mix_bits(mix_bits(mix_bits(seed) + stream) + tick) + leaf)) {}

  // 64 random bits.
  constexpr std::uint64_t bits() noexcept { return mix_bits(key_ + counter_++); }
  // At least 0, less than 1.
  constexpr double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  // At least 0, less than `end`.  pre: end > 0
  constexpr std::uint64_t below(std::uint64_t end) noexcept { return bits() % end; }
  // Mean 0, variance 1: the sum of twelve uniforms less six, so at most six sigma.
  double normal() noexcept;
  // How many of `trials` succeed.  Exact up to 16 trials or 12 expected ones on the rarer side,
  // else a rounded normal.  pre: 0 <= probability <= 1
  std::uint64_t binomial(std::uint64_t trials, double probability) noexcept;
  // Mean and variance `mean`.  Exact up to 12, else a rounded normal.
  std::uint64_t poisson(double mean) noexcept;

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace cxltier::simulator
