// SPDX-License-Identifier: Apache-2.0
//
// Rates in bytes per second; idle bandwidth from the ratio of idle to loaded latency.
#include "policy/move_budget.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::uint64_t bytes_per_mb = 1'000'000;
constexpr std::int64_t bytes_max = std::int64_t{1} << 50;

// MB/s that moves may take of the slower tier: a share of its peak, less the more it is loaded.
std::uint64_t idle_mbps(const MoveLoad& load, const Parameters& parameters) {
  if (load.slow_mbps == 0) return parameters.rate_max_mbps;
  const std::uint64_t loaded = std::max<std::uint64_t>(1, load.slow_latency_ps);
  const std::uint64_t idle = std::min<std::uint64_t>(loaded, load.slow_latency_idle_ps);
  const std::uint64_t free_mbps =
      idle == 0 ? load.slow_mbps : std::uint64_t{load.slow_mbps} * idle / loaded;
  return free_mbps * parameters.rate_share_256 / 256;
}

}  // namespace

std::uint64_t move_rate(const MoveLoad& load, const Parameters& parameters) noexcept {
  const bool is_recent = load.pacing == Pacing::recency;
  const std::uint64_t factor = is_recent ? parameters.recency_rate_factor : 1;
  const std::uint64_t mbps =
      std::clamp<std::uint64_t>(idle_mbps(load, parameters), parameters.rate_min_mbps,
                                std::max(parameters.rate_min_mbps, parameters.rate_max_mbps));
  const std::uint64_t permille =
      is_recent ? parameters.recency_stall_permille : parameters.stall_permille;
  const std::uint64_t stall_ns = permille * 1'000'000 * std::max(1u, load.cpus);
  const std::uint64_t page_ns = std::max<std::uint64_t>(1, load.page_cost_ns);
  const std::uint64_t by_stall = stall_ns / page_ns * load.page_size.count;
  const std::uint64_t least = std::uint64_t{parameters.rate_min_mbps} * bytes_per_mb;
  return std::max(least, std::min(mbps * factor * bytes_per_mb, by_stall));
}

void MoveBudget::fill(std::uint64_t rate, Nanoseconds elapsed) noexcept {
  const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(rate, bytes_max));
  const std::uint64_t elapsed_us = std::min<std::uint64_t>(elapsed.count / 1000, 1'000'000);
  bytes_ += static_cast<std::int64_t>(static_cast<std::uint64_t>(most) / 1000 * elapsed_us / 1000);
  bytes_ = std::min(bytes_, most);
}

void MoveBudget::spend(Bytes bytes) noexcept {
  bytes_ -= static_cast<std::int64_t>(std::min<std::uint64_t>(bytes.count, bytes_max));
}

}  // namespace cxltier
