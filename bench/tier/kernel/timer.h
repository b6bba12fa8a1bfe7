// SPDX-License-Identifier: Apache-2.0
//
// The processor's time stamp: what a reading costs, and how many ticks a nanosecond has.
//
// x86-64: lfence; rdtsc; lfence, so that loads before it have ended and loads after it have not
// begun.  arm64: isb; cntvct_el0.  Elsewhere: CLOCK_MONOTONIC_RAW in nanoseconds.  A reading is
// never taken inside a chain of loads that is timed as a whole, only around it.  Any thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <time.h>
#endif

namespace cxltier::bench {

inline std::uint64_t read_ticks() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks;
#else
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

struct Timer {
  double ns_per_tick = 1;
  std::uint64_t cost_ticks = 0;  // of two readings around nothing: subtracted from what is timed
  double calibration_error = 0;  // how far two calibrations disagreed, as a share
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
  [[nodiscard]] double cost_ns() const noexcept { return ns(cost_ticks); }
  // Ticks between two readings without the readings' own cost.
  [[nodiscard]] std::uint64_t between(std::uint64_t start, std::uint64_t end) const noexcept {
    const std::uint64_t ticks = end > start ? end - start : 0;
    return ticks > cost_ticks ? ticks - cost_ticks : 0;
  }
};

// Calibrates against CLOCK_MONOTONIC_RAW over two windows of `window_ms`; blocks for both.
[[nodiscard]] Timer calibrate_timer(double window_ms) noexcept;

// CLOCK_MONOTONIC_RAW.
[[nodiscard]] double now_s() noexcept;

// Nanoseconds of a fixed chain of dependent multiplications: it grows when the core's clock falls,
// which is the only way to see that without APERF and MPERF.
[[nodiscard]] double arithmetic_loop_ns(const Timer& timer) noexcept;

}  // namespace cxltier::bench
