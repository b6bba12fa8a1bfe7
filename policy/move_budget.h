// SPDX-License-Identifier: Apache-2.0
//
// How many bytes may move: a token bucket, and the rate that fills it.
//
// The rate is the least of what the slow tier has idle, a bound in MB/s, and what keeps the stall
// that moves cause within a share of the application's time.  A move may overdraw the bucket, since
// leaves are not cut; the debt is paid before the next one.  Pure values; one thread at a time.
#pragma once

#include <cstdint>

#include "policy/presets.h"
#include "policy/units.h"

namespace cxltier {

enum class Pacing : std::uint8_t { steady, recency };

// What the rate depends on.
struct MoveLoad {
  std::uint32_t slow_mbps = 0;        // peak bandwidth of the slower tier; 0: unknown
  std::uint32_t slow_latency_ps = 0;  // loaded; 0: unknown
  std::uint32_t slow_latency_idle_ps = 0;
  std::uint64_t page_cost_ns = 0;  // time that one page costs the application or its processors
  Bytes page_size{4096};
  std::uint32_t cpus = 1;
  Pacing pacing = Pacing::steady;
};

// Bytes per second, both directions together.
[[nodiscard]] std::uint64_t move_rate(const MoveLoad& load, const Parameters& parameters) noexcept;

class MoveBudget {
 public:
  // Fills for `elapsed` at `rate` bytes per second; saves up to one second of it.
  void fill(std::uint64_t rate, Nanoseconds elapsed) noexcept;

  // What may be spent; 0 or less: nothing, a debt is being paid.
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  void spend(Bytes bytes) noexcept;

 private:
  std::int64_t bytes_ = 0;  // below 0: debt
};

}  // namespace cxltier
