// SPDX-License-Identifier: Apache-2.0
//
// Searches for the best placement.
#include "policy/simulator/oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "policy/check.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

using ClassShares = std::array<PerTier<double>, classes_max>;

// Progress as a function of each class's share by tier.
class Evaluator {
 public:
  Evaluator(const MachineModel& machine, const Workload& workload, const Demand& demand)
      : workload_(workload), solver_(machine) {
    load_.class_count = workload.class_count;
    load_.background_lines = machine.background_lines * demand.background_cores;
    load_.background_think_ns = machine.background_think_ns;
    load_.background_weight = traffic_weight(machine.tiers[0], machine.background_writes);
    for (std::size_t c = 0; c < workload.class_count; ++c) {
      load_.classes[c] = class_load_of(machine, workload.classes[c]);
      load_.classes[c].lines *= demand.activity[c];
      full_speed_[c] = full_speed_of(machine, workload.classes[c]);
    }
  }

  double progress(const ClassShares& shares) {
    for (std::size_t c = 0; c < load_.class_count; ++c) load_.classes[c].share = shares[c];
    const LoadResult& result = solver_.solve(load_);
    double progress = 0;
    for (std::size_t c = 0; c < load_.class_count; ++c) {
      progress += workload_.classes[c].weight * result.rate[c] / full_speed_[c];
    }
    return progress;
  }

 private:
  const Workload& workload_;
  LoadSolver solver_;
  Load load_;
  std::array<double, classes_max> full_speed_{};
};

// Leaves in an order, and what each class gets from the first x leaves of it.
struct Curve {
  std::vector<std::uint32_t> order;
  std::array<std::vector<double>, classes_max> mass;  // [leaves]: of the first so many

  // Linear inside a leaf.
  [[nodiscard]] double at(std::size_t c, double leaves) const {
    const double x = std::clamp(leaves, 0.0, static_cast<double>(order.size()));
    const auto whole = std::min(static_cast<std::size_t>(x), order.size() - 1);
    const double part = x - static_cast<double>(whole);
    return mass[c][whole] + part * (mass[c][whole + 1] - mass[c][whole]);
  }
};

Curve curve_of(const Workload& workload, const Demand& demand, const std::vector<double>& score) {
  Curve curve;
  curve.order.resize(workload.leaf_count);
  std::iota(curve.order.begin(), curve.order.end(), 0u);
  std::ranges::stable_sort(curve.order,
                           [&](std::uint32_t a, std::uint32_t b) { return score[a] > score[b]; });
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    std::vector<double>& mass = curve.mass[c];
    mass.assign(workload.leaf_count + 1, 0);
    for (std::size_t i = 0; i < curve.order.size(); ++i) {
      mass[i + 1] = mass[i] + demand.popularity[c][curve.order[i]];
    }
  }
  return curve;
}

double leaves_of(const Workload& workload, std::size_t tier) {
  return static_cast<double>(workload.capacity_units[tier]) / workload.leaf_units;
}

// How the leaves of a curve are dealt: the first leaves[0] of them on tier order[0], the next on
// order[1], the rest on the slowest.
struct Fill {
  double progress = -1;
  PerTier<double> leaves{};
  std::array<std::size_t, tiers_max> order{0, 1, 2};
};

std::vector<PerTier<float>> shares_of(const Workload& workload, const Curve& curve,
                                      const Fill& fill, std::size_t tiers) {
  std::vector<PerTier<float>> share(workload.leaf_count);
  double start = 0;
  for (std::size_t t = 0; t < tiers; ++t) {
    const double end =
        t + 1 == tiers ? static_cast<double>(workload.leaf_count)
                       : std::min(start + fill.leaves[t], static_cast<double>(workload.leaf_count));
    for (auto i = static_cast<std::size_t>(start);
         i < curve.order.size() && static_cast<double>(i) < end; ++i) {
      const auto at = static_cast<double>(i);
      const double part = std::min(end, at + 1) - std::max(start, at);
      share[curve.order[i]][fill.order[t]] += static_cast<float>(part);
    }
    start = end;
  }
  return share;
}

// Searches the fills of one curve.  With two tiers the first number is all there is; with three,
// the second is nested inside.
class FillSearch {
 public:
  FillSearch(const MachineModel& machine, const Workload& workload, Evaluator& evaluator)
      : tiers_(machine.tier_count), workload_(workload), evaluator_(evaluator) {}

  // With three tiers the hottest leaves may belong on the middle one, where the fast one is loaded.
  Fill best(const Curve& curve, int points) {
    Fill best = best_in_order(curve, points, {0, 1, 2});
    if (tiers_ == 2) return best;
    const Fill other = best_in_order(curve, points, {1, 0, 2});
    return other.progress > best.progress ? other : best;
  }

 private:
  Fill best_in_order(const Curve& curve, int points,
                     const std::array<std::size_t, tiers_max>& order) {
    const auto all = static_cast<double>(workload_.leaf_count);
    const double most = std::min(all, leaves_of(workload_, order[0]));
    const double least = tiers_ == 2 ? std::max(0.0, all - leaves_of(workload_, 1)) : 0;
    return refine(least, most, points, [&](double x) {
      Fill fill{.leaves = {x}, .order = order};
      if (tiers_ == 2) return evaluate(curve, fill);
      const double middle = std::min(all - x, leaves_of(workload_, order[1]));
      const double needed = std::max(0.0, all - x - leaves_of(workload_, order[2]));
      return refine(std::min(needed, middle), middle, points, [&](double y) {
        fill.leaves[1] = y;
        return evaluate(curve, fill);
      });
    });
  }

  Fill evaluate(const Curve& curve, Fill fill) {
    ClassShares shares{};
    for (std::size_t c = 0; c < workload_.class_count; ++c) {
      double start = 0;
      double before = 0;
      for (std::size_t t = 0; t + 1 < tiers_; ++t) {
        start += fill.leaves[t];
        const double upto = curve.at(c, start);
        shares[c][fill.order[t]] = upto - before;
        before = upto;
      }
      shares[c][tiers_ - 1] = 1 - before;
    }
    fill.progress = evaluator_.progress(shares);
    return fill;
  }

  // Equal points, then finer rows around the best.
  template <typename Function>
  static Fill refine(double low, double high, int points, const Function& function) {
    Fill best;
    double best_x = low;
    for (int round = 0; round < 5; ++round) {
      const double step = (high - low) / points;
      for (int i = 0; i <= points; ++i) {
        const double x = i == points ? high : low + step * i;
        const Fill fill = function(x);
        if (fill.progress <= best.progress) continue;
        best = fill;
        best_x = x;
      }
      low = std::max(low, best_x - step);
      high = std::min(high, best_x + step);
      if (high - low < 1e-3) break;
    }
    return best;
  }

  std::size_t tiers_;
  const Workload& workload_;
  Evaluator& evaluator_;
};

// Weighted sums of the classes' heat to rank leaves by.
std::vector<std::array<double, classes_max>> directions(std::size_t class_count) {
  if (class_count == 1) return {{1, 0, 0, 0}};
  // Around the circle: both signs, since a class that does not mind latency may have to yield.
  constexpr int steps = 24;
  constexpr double diamond = 4.0 / steps;
  std::vector<std::array<double, classes_max>> list;
  for (int i = 0; i < steps; ++i) {
    // Points of the diamond |x| + |y| = 1 need no sine.
    const double s = diamond * i;
    const double x = s <= 2 ? 1 - s : s - 3;
    const double y = s <= 1 ? s : s <= 3 ? 2 - s : s - 4;
    list.push_back({x, y, 0, 0});
  }
  // Hundredths beside the axes: ties of one class broken by the other.
  for (const double tilt : {0.03, -0.03, 0.01, -0.01}) {
    list.push_back({1, tilt, 0, 0});
    list.push_back({tilt, 1, 0, 0});
    list.push_back({-1, tilt, 0, 0});
    list.push_back({tilt, -1, 0, 0});
  }
  return list;
}

std::vector<double> score_by(const Workload& workload, const Demand& demand,
                             const std::array<double, classes_max>& direction) {
  std::vector<double> score(workload.leaf_count);
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    for (std::size_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
      score[leaf] += direction[c] * demand.popularity[c][leaf];
    }
  }
  return score;
}

}  // namespace

Demand demand_of(const Workload& workload, std::size_t phase) {
  Demand demand;
  const Phase& now = workload.phases[phase];
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    demand.popularity[c] = workload.popularity[now.popularity[c]];
    demand.activity[c] = now.activity[c];
  }
  demand.background_cores = now.background_cores;
  return demand;
}

double progress_of(const MachineModel& machine, const Workload& workload, const Demand& demand,
                   const std::vector<PerTier<float>>& share) {
  Evaluator evaluator(machine, workload, demand);
  ClassShares shares{};
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    for (std::size_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
      for (std::size_t t = 0; t < machine.tier_count; ++t) {
        shares[c][t] += demand.popularity[c][leaf] * double{share[leaf][t]};
      }
    }
  }
  return evaluator.progress(shares);
}

Placement best_placement(const MachineModel& machine, const Workload& workload,
                         const Demand& demand) {
  CXLTIER_CHECK(machine.tier_count >= 2 && machine.tier_count <= 3);
  Evaluator evaluator(machine, workload, demand);
  FillSearch search(machine, workload, evaluator);
  const bool is_simple = workload.class_count == 1 && machine.tier_count == 2;
  Curve best_curve;
  Fill best;
  for (const auto& direction : directions(workload.class_count)) {
    Curve curve = curve_of(workload, demand, score_by(workload, demand, direction));
    const Fill fill = search.best(curve, is_simple ? 32 : 12);
    if (fill.progress <= best.progress) continue;
    best = fill;
    best_curve = std::move(curve);
  }
  return {best.progress, shares_of(workload, best_curve, best, machine.tier_count)};
}

std::vector<double> best_progress(const MachineModel& machine, const Workload& workload) {
  using Key =
      std::tuple<std::array<std::size_t, classes_max>, std::array<double, classes_max>, double>;
  std::map<Key, double> known;
  std::vector<double> by_phase;
  for (std::size_t phase = 0; phase < workload.phases.size(); ++phase) {
    const Phase& now = workload.phases[phase];
    const Key key{now.popularity, now.activity, now.background_cores};
    const auto found = known.find(key);
    if (found != known.end()) {
      by_phase.push_back(found->second);
      continue;
    }
    by_phase.push_back(best_placement(machine, workload, demand_of(workload, phase)).progress);
    known.emplace(key, by_phase.back());
  }
  return by_phase;
}

double mean_by_phase(const Workload& workload, const std::vector<double>& by_phase,
                     Nanoseconds from) {
  double sum = 0;
  for (std::size_t phase = 0; phase < by_phase.size(); ++phase) {
    const Nanoseconds start = std::max(workload.phases[phase].start, from);
    const Nanoseconds end = phase_end(workload, phase);
    if (end > start) sum += by_phase[phase] * static_cast<double>((end - start).count);
  }
  return sum / static_cast<double>((workload.duration - from).count);
}

double analytic_cap(const MachineModel& machine, const Workload& workload, std::size_t phase) {
  double bandwidth = 0;
  double fastest = machine.tiers[0].idle_ns;
  for (std::size_t t = 0; t < machine.tier_count; ++t) {
    const TierModel& tier = machine.tiers[t];
    double cheapest = 1;
    for (std::size_t c = 0; c < workload.class_count; ++c) {
      cheapest = std::min(cheapest, traffic_weight(tier, workload.classes[c].write_share));
    }
    // The curve lets a tier pass its bandwidth a little; its points are measured, and more so.
    bandwidth += tier.bandwidth_gbps * 1.05 / cheapest;
    fastest = std::min(fastest, tier.idle_ns);
  }
  double progress = 0;
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    const AccessClass& access = workload.classes[c];
    const double lines = access.lines * workload.phases[phase].activity[c];
    const double rate = std::min(lines / (fastest + access.think_ns), bandwidth / line_bytes);
    progress += access.weight * rate / full_speed_of(machine, access);
  }
  return progress;
}

}  // namespace cxltier::simulator
