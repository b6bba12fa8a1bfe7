// SPDX-License-Identifier: Apache-2.0
//
// The loop over quanta: place, tick, advance, record.
#include "policy/simulator/simulation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "policy/check.h"

namespace cxltier::simulator {
namespace {

constexpr std::uint64_t quanta_per_s = 1'000'000'000 / quantum.count;
constexpr double recovered_share = 0.95;

double mean_latency(const MemorySystem& system) {
  double lines = 0;
  double sum = 0;
  for (std::size_t c = 0; c < system.workload().class_count; ++c) {
    const double rate = system.load().rate[c];
    for (std::size_t t = 0; t < system.machine().tier_count; ++t) {
      sum += rate * system.share(c, t) * system.load().latency_ns[t];
    }
    lines += rate;
  }
  return lines > 0 ? sum / lines : 0;
}

PerTier<double> traffic_share(const MemorySystem& system) {
  PerTier<double> share{};
  double lines = 0;
  for (std::size_t c = 0; c < system.workload().class_count; ++c) {
    for (std::size_t t = 0; t < system.machine().tier_count; ++t) {
      share[t] += system.load().rate[c] * system.share(c, t);
    }
    lines += system.load().rate[c];
  }
  for (double& part : share) part = lines > 0 ? part / lines : 0;
  return share;
}

// Sums of one run, and its timeline.
class Recorder {
 public:
  Recorder(const MemorySystem& system, const RunOptions& options)
      : system_(system),
        recovery_progress_(options.recovery_progress),
        step_quanta_(options.timeline_step.count / quantum.count) {
    outcome_.phase_progress.resize(system.workload().phases.size());
    phase_quanta_.resize(system.workload().phases.size());
    outcome_.digest = digest_start;
  }

  // After each quantum, which began in `phase`.
  void note(std::size_t phase) {
    const double progress = system_.progress();
    ++quanta_;
    outcome_.progress += progress;
    outcome_.phase_progress[phase] += progress;
    ++phase_quanta_[phase];
    outcome_.digest = fold(outcome_.digest, progress);
    second_.push_back(progress);
    const Workload& workload = system_.workload();
    if (system_.now() > workload.steady_from) {
      if (steady_quanta_ == 0) moved_before_steady_ = moved_last_;
      ++steady_quanta_;
      outcome_.steady_progress += progress;
      outcome_.mean_latency_ns += mean_latency(system_);
      const PerTier<double> share = traffic_share(system_);
      for (std::size_t t = 0; t < tiers_max; ++t) outcome_.steady_share[t] += share[t];
    }
    moved_last_ = system_.units_moved();
    if (step_quanta_ > 0) note_point(progress);
  }

  Outcome finish() {
    const auto bytes = static_cast<double>(unit_bytes);
    const auto steady = static_cast<double>(std::max<std::uint64_t>(1, steady_quanta_));
    outcome_.progress /= static_cast<double>(quanta_);
    outcome_.steady_progress /= steady;
    outcome_.mean_latency_ns /= steady;
    for (double& share : outcome_.steady_share) share /= steady;
    outcome_.moved_bytes = static_cast<double>(system_.units_moved()) * bytes;
    outcome_.promoted_bytes = static_cast<double>(system_.units_promoted()) * bytes;
    outcome_.steady_moved_bytes =
        static_cast<double>(system_.units_moved() - moved_before_steady_) * bytes;
    for (std::size_t i = 0; i < phase_quanta_.size(); ++i) {
      outcome_.phase_progress[i] /=
          static_cast<double>(std::max<std::uint64_t>(1, phase_quanta_[i]));
    }
    for (std::size_t leaf = 0; leaf < system_.workload().leaf_count; ++leaf) {
      for (std::size_t t = 0; t < system_.machine().tier_count; ++t) {
        outcome_.digest = fold(outcome_.digest, std::uint64_t{system_.resident(leaf)[t]});
      }
    }
    outcome_.recovery_s = recovery();
    return std::move(outcome_);
  }

 private:
  void note_point(double progress) {
    point_progress_ += progress;
    point_latency_ += mean_latency(system_);
    if (quanta_ % step_quanta_ != 0) return;
    TimePoint point;
    const auto steps = static_cast<double>(step_quanta_);
    point.time_s = static_cast<double>(system_.now().count) / 1e9;
    point.progress = point_progress_ / steps;
    point.mean_latency_ns = point_latency_ / steps;
    point.share = traffic_share(system_);
    for (std::size_t t = 0; t < system_.machine().tier_count; ++t) {
      point.used[t] = static_cast<double>(system_.used_units(t)) /
                      static_cast<double>(system_.workload().capacity_units[t]);
    }
    point.moved_bytes = static_cast<double>(system_.units_moved() - moved_at_point_) *
                        static_cast<double>(unit_bytes);
    moved_at_point_ = system_.units_moved();
    point_progress_ = point_latency_ = 0;
    outcome_.timeline.push_back(point);
  }

  // The first second after the change from which on two seconds running are good.
  [[nodiscard]] double recovery() const {
    const std::uint64_t changed = system_.workload().changed_at.count / quantum.count;
    if (changed == 0) return -1;
    const double wanted =
        recovered_share * (recovery_progress_ > 0 ? recovery_progress_ : outcome_.steady_progress);
    double sum = 0;
    std::uint64_t good = 0;  // windows of a second running that were good
    for (std::uint64_t i = changed; i < second_.size(); ++i) {
      sum += second_[i];
      if (i >= changed + quanta_per_s) sum -= second_[i - quanta_per_s];
      if (i + 1 < changed + quanta_per_s) continue;
      good = sum / quanta_per_s >= wanted ? good + 1 : 0;
      if (good == quanta_per_s) {
        const double end = static_cast<double>(i + 1 - changed) / quanta_per_s;
        return std::max(0.0, end - 2);
      }
    }
    return -1;
  }

  const MemorySystem& system_;
  double recovery_progress_;
  std::uint64_t step_quanta_;
  Outcome outcome_;
  std::vector<std::uint64_t> phase_quanta_;
  std::vector<double> second_;  // progress of each quantum
  std::uint64_t quanta_ = 0;
  std::uint64_t steady_quanta_ = 0;
  std::uint64_t moved_before_steady_ = 0;
  std::uint64_t moved_last_ = 0;
  std::uint64_t moved_at_point_ = 0;
  double point_progress_ = 0;
  double point_latency_ = 0;
};

}  // namespace

std::uint64_t fold(std::uint64_t digest, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    digest = (digest ^ (value & 0xff)) * 0x100'0000'01b3;
    value >>= 8;
  }
  return digest;
}

std::uint64_t fold(std::uint64_t digest, double value) {
  return fold(digest, std::bit_cast<std::uint64_t>(value));
}

Outcome simulate(const MachineModel& machine, const Workload& workload, TieringPolicy& policy,
                 const RunOptions& options) {
  MemorySystem system(machine, workload);
  for (std::uint32_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
    system.place(leaf, policy.placement(system, leaf));
  }
  Recorder recorder(system, options);
  std::vector<Order> orders;
  std::vector<std::uint32_t> renewed;
  Nanoseconds next_tick = policy.interval();
  std::uint64_t tick = 0;
  while (system.now() < workload.duration) {
    const std::size_t phase = system.phase();
    system.advance();
    recorder.note(phase);
    if (system.phase() != phase) {
      for (const std::uint32_t leaf : workload.phases[system.phase()].renewed) {
        system.place(leaf, policy.placement(system, leaf));
        renewed.push_back(leaf);
      }
    }
    if (system.now() < next_tick) continue;
    View view(system, options.seed, ++tick);
    view.set_renewed(std::exchange(renewed, {}));
    orders.clear();
    policy.tick(view, orders);
    system.replace_orders(orders, policy.mover());
    CXLTIER_CHECK_DEBUG(policy.interval() >= quantum);
    next_tick = system.now() + policy.interval();
    system.charge(view.charged_core_ns(), next_tick);
    system.take_window();
  }
  CXLTIER_CHECK(system.is_consistent());
  return recorder.finish();
}

}  // namespace cxltier::simulator
