// SPDX-License-Identifier: Apache-2.0
//
// ARMS-like (arXiv 2508.04417): two moving averages of samples, promotion only if the benefit over
// the expected time in the hot set pays for the moves, and a change detector that turns to recency.
#include <algorithm>
#include <array>
#include <cmath>

#include "policy/simulator/baselines.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

struct ArmsSettings {
  double benefit_over_cost = 1.5;
  double period = 10'007;
  double period_recency = 5003;
};

constexpr double short_gain = 0.667;  // of an interval of 500 ms
constexpr double long_gain = 0.095;
constexpr double move_ns = 1e6;  // one unit: copy and 500 us

// Two-sided CUSUM on the traffic of the slow tiers, once a second.
class TrafficWatch {
 public:
  bool is_alarm(double gbps) {
    if (!has_mean_) {
      mean_ = gbps;
      has_mean_ = true;
    }
    const double deviation = std::abs(gbps - mean_);
    sum_ = std::max(0.0, sum_ + deviation - 0.5 * sigma_);
    const bool alarm = sum_ > 6 * sigma_;
    mean_ += 0.1 * (gbps - mean_);
    sigma_ = std::max(0.3, sigma_ + 0.2 * (deviation - sigma_));
    if (alarm) sum_ = 0;
    return alarm;
  }

 private:
  bool has_mean_ = false;
  double mean_ = 0;
  double sigma_ = 0.3;  // GB/s, and never less
  double sum_ = 0;
};

class ArmsLike final : public TieringPolicy {
 public:
  explicit ArmsLike(const ArmsSettings& settings) : settings_(settings) {}
  [[nodiscard]] Nanoseconds interval() const override {
    return recency_left_ > 0 ? milliseconds(100) : milliseconds(500);
  }
  [[nodiscard]] MoverModel mover() const override {
    return {.rate_gbps = 10, .stall_us_unit = stall_us_huge, .threads = 1};
  }

  void tick(View& view, std::vector<Order>& orders) override {
    absorb(view);
    rank(view);
    exchange(view, orders);
    if (recency_left_ > 0) --recency_left_;
    watch(view);
  }

 private:
  struct Leaf {
    double fast = 0;  // samples per unit and 500 ms, short average
    double slow = 0;  // long average
    double score = 0;
    double score_last = 0;
    std::uint32_t age = 0;  // intervals in the top set
  };

  void absorb(View& view) {
    const bool is_recency = recency_left_ > 0;
    leaves_.resize(view.leaf_count());
    for (const std::uint32_t leaf : view.renewed()) leaves_[leaf] = {};
    const double period = is_recency ? settings_.period_recency : settings_.period;
    // Everything in samples of one period and one interval of 500 ms.
    const double scale = period / settings_.period * 0.5 / std::max(0.01, view.elapsed_s());
    const double weight_short = is_recency ? 0.731 : 0.4;
    for (std::uint32_t i = 0; i < view.leaf_count(); ++i) {
      Leaf& leaf = leaves_[i];
      const double count = static_cast<double>(view.samples(i, period)) * scale / view.leaf_units();
      leaf.fast += short_gain * (count - leaf.fast);
      leaf.slow += long_gain * (count - leaf.slow);
      leaf.score_last = leaf.score;
      leaf.score = weight_short * leaf.fast + (1 - weight_short) * leaf.slow;
    }
  }

  void rank(const View& view) {
    ranked_.clear();
    for (std::uint32_t i = 0; i < view.leaf_count(); ++i) ranked_.push_back({i, leaves_[i].score});
    rank_hottest_first(ranked_);
    const std::uint64_t top = view.capacity_units(0) / view.leaf_units();
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      Leaf& leaf = leaves_[ranked_[i].leaf];
      leaf.age = i < top ? leaf.age + 1 : 0;
    }
  }

  // The latency that a move to the fast tier saves, by the knees of its authors' machine.
  static double latency_saved(const View& view) {
    const std::size_t slowest = view.tier_count() - 1;
    const double fast =
        view.machine().tiers[0].idle_ns + 6 * std::max(0.0, view.counted_gbps(0) - 25);
    const double slow =
        view.machine().tiers[slowest].idle_ns + 90 * std::max(0.0, view.counted_gbps(slowest) - 15);
    return slow - fast;
  }

  void exchange(View& view, std::vector<Order>& orders) {
    OrderDraft draft(view, orders);
    const double saved_ns = latency_saved(view);
    auto batch = static_cast<std::uint64_t>(static_cast<double>(interval().count) / (2 * move_ns));
    std::size_t coldest = ranked_.size();
    for (std::size_t i = 0; i < coldest && batch > 0; ++i) {
      const Leaf& hot = leaves_[ranked_[i].leaf];
      if (hot.age == 0) break;
      if (hot.age < 2 || hot.score < hot.score_last * 0.9) continue;
      std::uint64_t wanted = std::min<std::uint64_t>(batch, draft.units_slow(ranked_[i].leaf));
      while (wanted > 0) {
        const bool has_room = draft.free_units(0) > 0;
        while (!has_room && coldest > i + 1 && draft.units_on(ranked_[coldest - 1].leaf, 0) == 0) {
          --coldest;
        }
        if (!has_room && coldest <= i + 1) return;
        const Leaf cold = has_room ? Leaf{} : leaves_[ranked_[coldest - 1].leaf];
        const double accesses = (hot.score - cold.score) * hot.age * settings_.period;
        const bool pays =
            accesses * saved_ns > settings_.benefit_over_cost * move_ns * (has_room ? 1 : 2);
        if (!pays || std::min(hot.fast, hot.slow) < std::max(cold.fast, cold.slow)) break;
        std::uint64_t units = wanted;
        if (!has_room) units = draft.demote(ranked_[coldest - 1].leaf, units);
        const std::uint32_t moved = draft.promote(ranked_[i].leaf, units);
        if (moved == 0) break;
        wanted -= moved;
        batch -= std::min<std::uint64_t>(batch, moved);
      }
    }
  }

  void watch(const View& view) {
    since_watch_s_ += view.elapsed_s();
    if (since_watch_s_ < 1) return;
    since_watch_s_ = 0;
    double slow_gbps = 0;
    for (std::size_t t = 1; t < view.tier_count(); ++t) slow_gbps += view.counted_gbps(t);
    if (watch_.is_alarm(slow_gbps)) recency_left_ = 20;
  }

  ArmsSettings settings_;
  std::vector<Leaf> leaves_;
  std::vector<RankedLeaf> ranked_;
  TrafficWatch watch_;
  double since_watch_s_ = 0;
  std::uint32_t recency_left_ = 0;
};

}  // namespace

std::unique_ptr<TieringPolicy> make_arms(std::size_t tuning) {
  constexpr std::array<double, tunings> ratios = {1.5, 1, 3, 1.5, 1.5};
  constexpr std::array<double, tunings> periods = {10'007, 10'007, 10'007, 5003, 19'997};
  return std::make_unique<ArmsLike>(
      ArmsSettings{.benefit_over_cost = ratios[tuning], .period = periods[tuning]});
}

}  // namespace cxltier::simulator
