// SPDX-License-Identifier: Apache-2.0
//
// Calibration: ticks per nanosecond between pairs of readings taken as close together as can be.
#include "bench/tier/kernel/timer.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cxltier::bench {
namespace {

std::uint64_t raw_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

struct Instant {
  std::uint64_t ns = 0;
  std::uint64_t ticks = 0;
};

// Of several pairs, the one whose two readings lay closest together: the others were interrupted.
Instant read_instant() noexcept {
  Instant best;
  std::uint64_t gap_least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = read_ticks();
    const std::uint64_t ns = raw_ns();
    const std::uint64_t after = read_ticks();
    if (after - before >= gap_least) continue;
    gap_least = after - before;
    best = {ns, before + (after - before) / 2};
  }
  return best;
}

double ns_per_tick_over(double window_ms) noexcept {
  const Instant start = read_instant();
  Instant end = start;
  while (static_cast<double>(end.ns - start.ns) < window_ms * 1e6) end = read_instant();
  if (end.ticks <= start.ticks) return 1;
  return static_cast<double>(end.ns - start.ns) / static_cast<double>(end.ticks - start.ticks);
}

// The median of many: the least would understate what a reading usually adds.
std::uint64_t reading_cost() noexcept {
  std::array<std::uint64_t, 1001> costs{};
  for (std::uint64_t& cost : costs) {
    const std::uint64_t start = read_ticks();
    cost = read_ticks() - start;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

}  // namespace

Timer calibrate_timer(double window_ms) noexcept {
  Timer timer;
  const double first = ns_per_tick_over(window_ms);
  const double second = ns_per_tick_over(window_ms);
  timer.ns_per_tick = (first + second) / 2;
  timer.calibration_error = std::abs(first - second) / timer.ns_per_tick;
  timer.cost_ticks = reading_cost();
  return timer;
}

double now_s() noexcept { return static_cast<double>(raw_ns()) * 1e-9; }

double arithmetic_loop_ns(const Timer& timer) noexcept {
  constexpr int steps = 20'000;
  double least = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::uint64_t x = 3;
    const std::uint64_t start = read_ticks();
    for (int i = 0; i < steps; ++i) {
      x *= 0x9e3779b97f4a7c15u;
      asm volatile("" : "+r"(x));
    }
    least = std::min(least, timer.ns(timer.between(start, read_ticks())));
  }
  return least;
}

}  // namespace cxltier::bench
