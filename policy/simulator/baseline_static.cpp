// SPDX-License-Identifier: Apache-2.0
//
// Policies that do not look at heat: first touch, interleaving, and climbs on one share.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "policy/simulator/baselines.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

class FirstTouch final : public TieringPolicy {
 public:
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  void tick(View& /*view*/, std::vector<Order>& /*orders*/) override {}
};

// Shares of a set of small weights whose ratio is that of the bandwidths: rounded to a sum of about
// 32 as the kernel's automatic weights are.
PerTier<double> bandwidth_shares(const MachineModel& machine, double sum_wanted) {
  double all = 0;
  for (std::size_t t = 0; t < machine.tier_count; ++t) all += machine.tiers[t].bandwidth_gbps;
  PerTier<double> weight{};
  double sum = 0;
  for (std::size_t t = 0; t < machine.tier_count; ++t) {
    const double share = machine.tiers[t].bandwidth_gbps / all;
    weight[t] = std::max(1.0, std::floor(sum_wanted * share + 0.5));
    sum += weight[t];
  }
  for (double& part : weight) part /= sum;
  return weight;
}

class WeightedInterleave final : public TieringPolicy {
 public:
  explicit WeightedInterleave(double weight_sum) : weight_sum_(weight_sum) {}
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  [[nodiscard]] PerTier<double> placement(const MemorySystem& system,
                                          std::uint32_t /*leaf*/) override {
    return bandwidth_shares(system.machine(), weight_sum_);
  }
  void tick(View& /*view*/, std::vector<Order>& /*orders*/) override {}

 private:
  double weight_sum_;
};

// The share of memory on the fastest tier, climbed: on while it improves, else back and half as
// far.
class ShareClimb {
 public:
  explicit ShareClimb(double step) : step_(step), step_start_(step) {}
  // Takes what the last share cost; returns the next share.
  double next(double share, double cost) {
    if (last_cost_ > 0 && cost > last_cost_ * 0.995) {
      direction_ = -direction_;
      step_ = std::max(step_ / 2, step_start_ / 16);
    }
    last_cost_ = cost;
    return std::clamp(share + direction_ * step_, 0.02, 0.98);
  }

 private:
  double step_;
  double step_start_;
  double direction_ = 1;
  double last_cost_ = 0;
};

// Time that the program's mean access waits, which is what stall counters show.
double stall_of(const View& view) {
  double rate = 0;
  double sum = 0;
  for (std::size_t t = 0; t < view.tier_count(); ++t) {
    rate += view.counted_rate(t);
    sum += view.counted_rate(t) * view.counted_latency_ns(t);
  }
  return rate > 0 ? sum / rate : 0;
}

double fast_share(const View& view) {
  std::uint64_t all = 0;
  for (std::size_t t = 0; t < view.tier_count(); ++t) all += view.used_units(t);
  return static_cast<double>(view.used_units(0)) / static_cast<double>(all);
}

// Bandwidth-weighted interleaving whose weight is climbed by migration of pages, whichever.
class BwapLike final : public TieringPolicy {
 public:
  BwapLike(double step, Nanoseconds period) : climb_(step), period_(period) {}
  [[nodiscard]] Nanoseconds interval() const override { return period_; }
  [[nodiscard]] PerTier<double> placement(const MemorySystem& system,
                                          std::uint32_t /*leaf*/) override {
    return bandwidth_shares(system.machine(), 32);
  }
  void tick(View& view, std::vector<Order>& orders) override {
    const double share = fast_share(view);
    if (view.units_queued() > 0) return shift(view, share, orders);
    target_ = climb_.next(share, stall_of(view));
    shift(view, share, orders);
  }

 private:
  // Moves evenly over all leaves towards the target.
  void shift(View& view, double share, std::vector<Order>& orders) {
    OrderDraft draft(view, orders);
    const double wanted = (target_ - share) * view.leaf_units();
    double debt = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      debt += std::abs(wanted);
      const double whole = std::floor(debt);
      const auto units = static_cast<std::uint64_t>(whole);
      debt -= wanted > 0 ? draft.promote(leaf, units) : draft.demote(leaf, units);
      debt = std::min(debt, 64.0);
    }
  }

  ShareClimb climb_;
  Nanoseconds period_;
  double target_ = 0.5;
};

// Climbs the share that new allocations get, and moves nothing.
class CaptionLike final : public TieringPolicy {
 public:
  CaptionLike(double step, Nanoseconds period) : climb_(step), period_(period) {}
  [[nodiscard]] Nanoseconds interval() const override { return period_; }
  [[nodiscard]] PerTier<double> placement(const MemorySystem& system,
                                          std::uint32_t /*leaf*/) override {
    if (share_ < 0) share_ = bandwidth_shares(system.machine(), 32)[0];
    PerTier<double> shares{};
    shares[0] = share_;
    shares[1] = 1 - share_;
    return shares;
  }
  void tick(View& view, std::vector<Order>& /*orders*/) override {
    share_ = climb_.next(share_, stall_of(view));
  }

 private:
  ShareClimb climb_;
  Nanoseconds period_;
  double share_ = -1;
};

}  // namespace

std::unique_ptr<TieringPolicy> make_static_baseline(std::string_view name, std::size_t tuning) {
  constexpr std::array<double, tunings> weight_sums = {32, 8, 16, 64, 255};
  constexpr std::array<double, tunings> steps = {0.05, 0.02, 0.1, 0.05, 0.02};
  constexpr std::array<std::uint64_t, tunings> periods = {2, 2, 2, 5, 1};
  if (name == "first-touch") return std::make_unique<FirstTouch>();
  if (name == "weighted-interleave") {
    return std::make_unique<WeightedInterleave>(weight_sums[tuning]);
  }
  if (name == "bwap-like") {
    return std::make_unique<BwapLike>(steps[tuning], seconds(periods[tuning]));
  }
  if (name == "caption-like") {
    return std::make_unique<CaptionLike>(steps[tuning], seconds(periods[tuning]));
  }
  return nullptr;
}

}  // namespace cxltier::simulator
