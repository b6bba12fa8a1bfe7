// SPDX-License-Identifier: Apache-2.0
//
// The oracle that pays for its moves: a receding horizon over known demand.
#include <algorithm>
#include <cmath>

#include "policy/simulator/oracle.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

constexpr Nanoseconds horizon = seconds(30);
constexpr double rate_gbps = 4;
constexpr int share_steps = 8;
// Progress that is given away for fewer moves.
constexpr double indifference = 0.002;

// Where the horizon ends: at a change of load at the latest, since loads have no mean.
Nanoseconds horizon_end(const Workload& workload, Nanoseconds from) {
  const Nanoseconds end = std::min(workload.duration, from + horizon);
  const std::size_t first = phase_at(workload, from);
  for (std::size_t phase = first + 1; phase < workload.phases.size(); ++phase) {
    const bool is_other =
        workload.phases[phase].background_cores != workload.phases[first].background_cores;
    if (is_other) return std::min(end, workload.phases[phase].start);
  }
  return end;
}

// Demand from `from` on, weighed by time up to the horizon.
Demand mean_demand(const Workload& workload, Nanoseconds from) {
  const Nanoseconds end = horizon_end(workload, from);
  Demand mean = demand_of(workload, phase_at(workload, from));
  const double all = static_cast<double>((end - from).count);
  if (all <= 0) return mean;
  for (auto& popularity : mean.popularity) std::ranges::fill(popularity, 0.0);
  mean.activity = {};
  mean.background_cores = 0;
  for (std::size_t phase = phase_at(workload, from);
       phase < workload.phases.size() && workload.phases[phase].start < end; ++phase) {
    const Nanoseconds start = std::max(from, workload.phases[phase].start);
    const double part =
        static_cast<double>((std::min(end, phase_end(workload, phase)) - start).count) / all;
    const Phase& now = workload.phases[phase];
    for (std::size_t c = 0; c < workload.class_count; ++c) {
      const Popularity& popularity = workload.popularity[now.popularity[c]];
      for (std::size_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
        mean.popularity[c][leaf] += part * popularity[leaf];
      }
      mean.activity[c] += part * now.activity[c];
    }
    mean.background_cores += part * now.background_cores;
  }
  return mean;
}

using Shares = std::vector<PerTier<float>>;

Shares shares_now(const View& view) {
  Shares shares(view.leaf_count());
  for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
    for (std::size_t t = 0; t < view.tier_count(); ++t) {
      shares[leaf][t] =
          static_cast<float>(view.resident(leaf)[t]) / static_cast<float>(view.leaf_units());
    }
  }
  return shares;
}

class Clairvoyant final : public TieringPolicy {
 public:
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  [[nodiscard]] MoverModel mover() const override {
    return {.rate_gbps = rate_gbps, .stall_us_unit = stall_us_huge, .threads = 1};
  }

  void tick(View& view, std::vector<Order>& orders) override {
    const MemorySystem& system = view.system();
    const Workload& workload = system.workload();
    if (view.units_queued() > 0 || view.now() >= workload.duration) {
      return keep_orders(view, orders);
    }
    const Nanoseconds change = phase_end(workload, system.phase());
    const bool is_settled = has_settled_ && change == settled_change_ &&
                            view.now() + horizon < change && view.renewed().empty();
    if (is_settled) return;
    const Demand demand = mean_demand(workload, view.now());
    const Placement target = best_placement(view.machine(), workload, demand);
    const Shares now = shares_now(view);
    plan(view, demand, now, target, orders);
    wanted_ = orders;
    has_settled_ = orders.empty() && view.now() + horizon < change;
    settled_change_ = change;
  }

 private:
  // Orders are replaced at each tick: those not yet carried out are written again.
  void keep_orders(View& view, std::vector<Order>& orders) {
    OrderDraft draft(view, orders);
    std::uint64_t left = view.units_queued();
    // What is left is the tail of what was wanted.
    std::vector<Order> tail;
    for (std::size_t i = wanted_.size(); i-- > 0 && left > 0;) {
      Order order = wanted_[i];
      order.units = static_cast<std::uint32_t>(std::min<std::uint64_t>(order.units, left));
      left -= order.units;
      tail.push_back(order);
    }
    std::ranges::reverse(tail);
    for (const Order& order : tail) draft.move(order.leaf, order.from, order.to, order.units);
  }

  // Chooses how much of the way pays.
  void plan(View& view, const Demand& demand, const Shares& now, const Placement& target,
            std::vector<Order>& orders) {
    const Workload& workload = view.system().workload();
    const std::vector<Order> way = orders_towards(view, demand, target);
    std::uint64_t all = 0;
    for (const Order& order : way) all += order.units;
    if (all == 0) return;
    const double left_s =
        static_cast<double>((horizon_end(workload, view.now()) - view.now()).count) / 1e9;
    const double start = progress_of(view.machine(), workload, demand, now);
    double best = start * left_s;
    std::uint64_t best_units = 0;
    for (int step = 1; step <= share_steps; ++step) {
      const std::uint64_t units = all * static_cast<std::uint64_t>(step) / share_steps;
      const double end = progress_of(view.machine(), workload, demand, after(now, way, units));
      const double stall = static_cast<double>(units) * stall_us_huge / 1e6 / view.machine().cores;
      const double move_s =
          static_cast<double>(units) * static_cast<double>(unit_bytes) / (rate_gbps * 1e9);
      const double moving = std::min(left_s, move_s);
      const double gained = (start + end) / 2 * moving + end * (left_s - moving) - start * stall;
      if (gained > best * (1 + indifference)) {
        best = gained;
        best_units = units;
      }
    }
    if (best_units == 0) return;
    OrderDraft draft(view, orders);
    for (const Order& order : way) {
      const std::uint64_t units = std::min<std::uint64_t>(order.units, best_units);
      draft.move(order.leaf, order.from, order.to, units);
      best_units -= units;
      if (best_units == 0) break;
    }
  }

  [[nodiscard]] Shares after(const Shares& now, const std::vector<Order>& way,
                             std::uint64_t units) const {
    Shares shares = now;
    const auto unit = [&](std::uint64_t count) {
      return static_cast<float>(count) / static_cast<float>(leaf_units_);
    };
    for (const Order& order : way) {
      const std::uint64_t part = std::min<std::uint64_t>(order.units, units);
      shares[order.leaf][order.from] -= unit(part);
      shares[order.leaf][order.to] += unit(part);
      units -= part;
      if (units == 0) break;
    }
    return shares;
  }

  // The whole way: what gains most first, a demotion before each promotion that needs its room.
  std::vector<Order> orders_towards(View& view, const Demand& demand, const Placement& target) {
    leaf_units_ = view.leaf_units();
    struct Want {
      std::uint32_t leaf;
      std::uint8_t from;
      std::uint8_t to;
      std::uint32_t units;
      double heat;
    };
    std::vector<Want> up;
    std::vector<Want> down;
    for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      double heat = 0;
      for (std::size_t c = 0; c < view.system().workload().class_count; ++c) {
        heat += demand.popularity[c][leaf];
      }
      std::array<std::int64_t, tiers_max> missing{};
      for (std::size_t t = 0; t < view.tier_count(); ++t) {
        missing[t] = std::lround(double{target.share[leaf][t]} * view.leaf_units()) -
                     static_cast<std::int64_t>(view.resident(leaf)[t]);
      }
      for (std::size_t to = 0; to < view.tier_count(); ++to) {
        for (std::size_t from = 0; from < view.tier_count(); ++from) {
          if (missing[to] <= 0 || missing[from] >= 0) continue;
          const std::int64_t units = std::min(missing[to], -missing[from]);
          missing[to] -= units;
          missing[from] += units;
          (to < from ? up : down)
              .push_back({leaf, static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
                          static_cast<std::uint32_t>(units), heat});
        }
      }
    }
    std::ranges::stable_sort(up, [](const Want& a, const Want& b) { return a.heat > b.heat; });
    std::ranges::stable_sort(down, [](const Want& a, const Want& b) { return a.heat < b.heat; });
    std::vector<Order> orders;
    OrderDraft draft(view, orders);
    std::size_t next_down = 0;
    for (Want& want : up) {
      while (want.units > 0) {
        want.units -= draft.move(want.leaf, want.from, want.to, want.units);
        if (want.units == 0 || next_down == down.size()) break;
        Want& victim = down[next_down];
        const std::uint32_t moved =
            draft.move(victim.leaf, victim.from, victim.to, std::min(victim.units, want.units));
        victim.units -= moved;
        if (victim.units == 0 || moved == 0) ++next_down;
      }
    }
    for (; next_down < down.size(); ++next_down) {
      Want& victim = down[next_down];
      draft.move(victim.leaf, victim.from, victim.to, victim.units);
    }
    return orders;
  }

  std::uint32_t leaf_units_ = 1;
  std::vector<Order> wanted_;
  bool has_settled_ = false;
  Nanoseconds settled_change_{};
};

}  // namespace

std::unique_ptr<TieringPolicy> make_clairvoyant() { return std::make_unique<Clairvoyant>(); }

}  // namespace cxltier::simulator
