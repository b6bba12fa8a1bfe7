// SPDX-License-Identifier: Apache-2.0
//
// The sensors: true rates in, noisy counts out.
#include "policy/simulator/tiering_policy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/simulator/arithmetic.h"

namespace cxltier::simulator {
namespace {

constexpr double sample_cost_ns = 200;
constexpr double probe_noise = 0.03;          // of one batch of 64 loads
constexpr double probe_outlier_share = 0.05;  // batches that met an interruption
constexpr double probe_outlier_factor = 10;
constexpr double probe_batches_per_s = 8;
constexpr std::size_t probe_batches_max = 32;
constexpr double counter_noise = 0.01;  // of a window of 100 ms; longer ones average

}  // namespace

PerTier<double> TieringPolicy::placement(const MemorySystem& /*system*/, std::uint32_t /*leaf*/) {
  PerTier<double> fastest{};
  fastest[0] = 1;
  return fastest;
}

std::uint64_t View::samples(std::size_t leaf, double period) {
  const double mean = system_.leaf_lines(leaf) / period;
  const std::uint64_t count = random(Stream::samples, leaf).poisson(mean);
  charge(static_cast<double>(count) * sample_cost_ns);
  return count;
}

// Accesses of one page per ns, if the leaf's units have this many pages each.
double View::page_rate(double lines, double pages_per_unit) const {
  if (window_.elapsed_ns <= 0) return 0;
  return lines / (window_.elapsed_ns * leaf_units() * pages_per_unit);
}

std::uint64_t View::touched_pages(std::size_t leaf, std::uint64_t watched, double window_ns) {
  const double rate = page_rate(system_.leaf_lines(leaf), unit_pages);
  return random(Stream::bits, leaf).binomial(watched, 1 - exp_of(-rate * window_ns));
}

std::uint64_t View::written_pages(std::size_t leaf, std::uint64_t watched, double window_ns) {
  const double rate = page_rate(system_.leaf_writes(leaf), unit_pages);
  return random(Stream::writes, leaf).binomial(watched, 1 - exp_of(-rate * window_ns));
}

std::uint64_t View::faults_within(std::size_t leaf, std::uint64_t armed,
                                  std::uint64_t pages_per_unit, double horizon_ns) {
  const double rate = page_rate(system_.leaf_lines(leaf), static_cast<double>(pages_per_unit));
  return random(Stream::faults, leaf).binomial(armed, 1 - exp_of(-rate * horizon_ns));
}

double View::sequential_share(std::size_t leaf) const {
  const Workload& workload = system_.workload();
  const Phase& phase = workload.phases[system_.phase()];
  double all = 0;
  double sequential = 0;
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    const double rate = workload.popularity[phase.popularity[c]][leaf] * system_.load().rate[c];
    all += rate;
    sequential += rate * workload.classes[c].sequential_share;
  }
  return all > 0 ? sequential / all : 0;
}

double View::probe_ns(std::size_t tier) const {
  if (window_.elapsed_ns <= 0) return machine().tiers[tier].idle_ns;
  const double mean = window_.latency_time[tier] / window_.elapsed_ns;
  const double wanted = probe_batches_per_s * elapsed_s();
  const auto batches =
      static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(probe_batches_max)));
  Random noise = random(Stream::probe, tier);
  std::array<double, probe_batches_max> batch{};
  for (std::size_t i = 0; i < batches; ++i) {
    batch[i] = mean * (1 + probe_noise * noise.normal());
    if (noise.uniform() < probe_outlier_share) batch[i] *= probe_outlier_factor;
  }
  std::sort(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(batches));
  return batch[batches / 2];
}

double View::noise_of_counter(std::size_t item) const {
  const double windows = std::max(0.1, elapsed_s() * 10);
  return 1 + counter_noise / std::sqrt(windows) * random(Stream::counters, item).normal();
}

double View::counted_latency_ns(std::size_t tier) const {
  const double mean = window_.lines[tier] > 0
                          ? window_.latency_sum[tier] / window_.lines[tier]
                          : window_.latency_time[tier] / std::max(1.0, window_.elapsed_ns);
  return mean * noise_of_counter(tier);
}

double View::counted_rate(std::size_t tier) const {
  const double rate = window_.lines[tier] / std::max(1.0, window_.elapsed_ns);
  return rate * noise_of_counter(tiers_max + tier);
}

double View::counted_gbps(std::size_t tier) const {
  const double rate = window_.bytes[tier] / std::max(1.0, window_.elapsed_ns);
  return rate * noise_of_counter(2 * tiers_max + tier);
}

}  // namespace cxltier::simulator
