// SPDX-License-Identifier: Apache-2.0
//
// Colloid-like: moves the share of accesses, by a bracket, to where both tiers are equally slow.
//
// Latencies come from uncore counters (Little's law on occupancy and inserts), averaged with 1/16
// for each 10 ms.  Which pages move is decided by the counts of the system below it.
#include <algorithm>
#include <array>
#include <cmath>

#include "policy/simulator/arithmetic.h"
#include "policy/simulator/baselines.h"
#include "policy/simulator/heat_source.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

struct ColloidSettings {
  double delta = 0.05;    // relative difference of latencies that counts as equal
  double epsilon = 0.01;  // width of the bracket below which it is opened again
  MoverModel mover;
};

// The bracket on the share p of accesses to the fast tier.
class ShareBracket {
 public:
  // The change of p that is wanted; its sign is that of the latency difference.
  double step(double p, double fast_ns, double slow_ns, const ColloidSettings& settings) {
    if (std::abs(fast_ns - slow_ns) < settings.delta * fast_ns) return 0;
    const bool is_fast_cooler = fast_ns < slow_ns;
    if (is_fast_cooler) {
      low_ = p;
      if (high_ <= p) high_ = 1;
    } else {
      high_ = p;
      if (low_ >= p) low_ = 0;
    }
    if (high_ - low_ < settings.epsilon) (is_fast_cooler ? high_ : low_) = is_fast_cooler ? 1 : 0;
    const double change = std::abs((low_ + high_) / 2 - p);
    return is_fast_cooler ? change : -change;
  }

 private:
  double low_ = 0;
  double high_ = 1;
};

class ColloidLike final : public TieringPolicy {
 public:
  ColloidLike(std::unique_ptr<HeatSource> heat, const ColloidSettings& settings)
      : heat_(std::move(heat)), settings_(settings) {}
  [[nodiscard]] Nanoseconds interval() const override { return heat_->interval(); }
  [[nodiscard]] MoverModel mover() const override { return settings_.mover; }

  void tick(View& view, std::vector<Order>& orders) override {
    heat_->absorb(view);
    const double keep = exp_of(-view.elapsed_s() * 100 / 16);
    PerTier<double> rate{};
    for (std::size_t t = 0; t < view.tier_count(); ++t) {
      const bool is_first = latency_[t] == 0;
      latency_[t] = is_first ? view.counted_latency_ns(t)
                             : keep * latency_[t] + (1 - keep) * view.counted_latency_ns(t);
      rate[t] = view.counted_rate(t);
    }
    // More than two tiers: the fastest against what is below it, by its mean.
    double slow_rate = 0;
    double slow_latency = 0;
    for (std::size_t t = 1; t < view.tier_count(); ++t) {
      slow_rate += rate[t];
      slow_latency += rate[t] * latency_[t];
    }
    slow_latency = slow_rate > 0 ? slow_latency / slow_rate : latency_[view.tier_count() - 1];
    const double p = rate[0] / std::max(1e-12, rate[0] + slow_rate);
    const double change = bracket_.step(p, latency_[0], slow_latency, settings_);
    if (change != 0) shift(view, change, orders);
  }

 private:
  enum class Way : std::uint8_t { up, down };

  // Share of accesses of one unit of each leaf, hottest first.
  std::vector<RankedLeaf> unit_shares(const View& view) const {
    std::vector<RankedLeaf> ranked;
    double sum = 0;
    for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      const double heat = heat_->binned_heat(leaf);
      ranked.push_back({leaf, heat});
      sum += heat * view.leaf_units();
    }
    for (RankedLeaf& entry : ranked) entry.heat /= std::max(1e-12, sum);
    rank_hottest_first(ranked);
    return ranked;
  }

  // Pairs the hottest units of the source with the coldest of the target until the shares that they
  // exchange sum to the change.
  void shift(View& view, double change, std::vector<Order>& orders) {
    const std::vector<RankedLeaf> ranked = unit_shares(view);
    OrderDraft draft(view, orders);
    const Way way = change > 0 ? Way::up : Way::down;
    const Way back = change > 0 ? Way::down : Way::up;
    double left = std::abs(change);
    // 50 x 2 MiB each 10 ms.
    auto budget = static_cast<std::uint64_t>(50 * 100 * view.elapsed_s());
    std::size_t partner = ranked.size();  // coldest last; those from here on are used up
    for (std::size_t i = 0; i < ranked.size() && left > 0 && budget > 0; ++i) {
      const RankedLeaf& hot = ranked[i];
      std::uint64_t wanted = std::min(budget, movable(draft, hot.leaf, way));
      while (wanted > 0 && left > 0) {
        const bool has_room = way == Way::down || draft.free_units(0) > 0;
        while (!has_room && partner > i + 1 &&
               movable(draft, ranked[partner - 1].leaf, back) == 0) {
          --partner;
        }
        if (!has_room && partner <= i + 1) return;
        const double cold = has_room ? 0 : ranked[partner - 1].heat;
        const double gain = hot.heat - cold;
        if (gain <= 0) return;
        auto units = static_cast<std::uint64_t>(left / gain);
        units = std::min(wanted, units);
        if (units == 0) break;  // one unit is more than what is left: try a colder one
        if (!has_room) units = transfer(draft, ranked[partner - 1].leaf, units, back);
        const std::uint64_t moved = transfer(draft, hot.leaf, units, way);
        if (moved == 0) break;
        wanted -= moved;
        budget -= moved;
        left -= gain * static_cast<double>(moved);
      }
    }
  }

  [[nodiscard]] std::uint64_t movable(const OrderDraft& draft, std::uint32_t leaf, Way way) const {
    const bool is_up = way == Way::up;
    const std::uint64_t there = is_up ? draft.units_slow(leaf) : draft.units_on(leaf, 0);
    return heat_->movable(leaf, is_up ? 1 : 0, there);
  }

  static std::uint64_t transfer(OrderDraft& draft, std::uint32_t leaf, std::uint64_t units,
                                Way way) {
    return way == Way::up ? draft.promote(leaf, units) : draft.demote(leaf, units);
  }

  std::unique_ptr<HeatSource> heat_;
  ColloidSettings settings_;
  ShareBracket bracket_;
  PerTier<double> latency_{};
};

}  // namespace

std::unique_ptr<TieringPolicy> make_colloid(std::string_view name, std::size_t tuning) {
  constexpr std::array<double, tunings> deltas = {0.05, 0.02, 0.1, 0.2, 0.05};
  constexpr std::array<double, tunings> epsilons = {0.01, 0.01, 0.01, 0.01, 0.05};
  ColloidSettings settings{.delta = deltas[tuning],
                           .epsilon = epsilons[tuning],
                           .mover = {.rate_gbps = 10.5, .stall_us_unit = stall_us_huge}};
  if (name == "colloid-hemem") {
    return std::make_unique<ColloidLike>(
        std::make_unique<SampledHeat>(SampledHeat::Settings{.period = 5003, .cooling_count = 18}),
        settings);
  }
  if (name == "colloid-memtis") {
    return std::make_unique<ColloidLike>(
        std::make_unique<SampledHeat>(SampledHeat::Settings{
            .period = 4001, .cooling_samples = 2e6, .interval = milliseconds(500)}),
        settings);
  }
  if (name == "colloid-tpp") {
    settings.mover = {.rate_gbps = 10.5, .stall_us_unit = stall_us_base, .threads = 15};
    return std::make_unique<ColloidLike>(
        std::make_unique<FaultHeat>(FaultHeat::Settings{.scans = FaultHeat::Scans::all_tiers}),
        settings);
  }
  return nullptr;
}

}  // namespace cxltier::simulator
