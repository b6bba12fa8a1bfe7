// SPDX-License-Identifier: Apache-2.0
//
// Seeded numbers: the same sequence on every machine, so that a run can be repeated from its seed.
//
// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014):
// one word of state, no bad seeds, and good enough to shuffle with.  A value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace cxltier::bench {

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A number in [0, bound), by the upper 32 bits; its bias is below bound / 2^32.
  // pre: 0 < bound < 2^32
  constexpr std::uint32_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  // A number in [0, 1).
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// Every order is equally likely (Fisher and Yates).
template <typename T>
constexpr void shuffle(std::span<T> list, Random& random) noexcept {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

}  // namespace cxltier::bench
