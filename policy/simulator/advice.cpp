// SPDX-License-Identifier: Apache-2.0
//
// From heat to the curve.
#include "policy/simulator/advice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/check.h"
#include "policy/simulator/arithmetic.h"
#include "policy/simulator/load_solver.h"

namespace cxltier::simulator {
namespace {

constexpr std::size_t curve_steps = 100;

std::uint64_t pages_of(const TraceFrame& frame) {
  return std::accumulate(frame.heat.begin(), frame.heat.end(), std::uint64_t{0});
}

// Access rate by rank: cell 0 is the coldest thousandth of the memory.
constexpr std::size_t cells = 1000;
// What pages that saturate in every frame may be hotter than they show, at most: arbitrary; access
// bits bound nothing there.  Larger: the favourable end of the interval is more favourable still.
constexpr double saturated_factor = 32;
// Touches of a page in a window from which on it tells no more: 1 - exp(-5) is 99.3 %.
constexpr double saturated_touches = 5;

struct Profile {
  std::array<Interval, cells> rate{};
  std::array<bool, cells> is_saturated{};
};

// Frames with known windows speak of the same ranks through different exposures: short windows tell
// the hot apart, long ones the cold.  Each rank listens most to those in which about half of its
// pages were touched.  Without windows all frames count alike.
Profile profile_of(const HeatTrace& trace) {
  Profile profile;
  std::array<double, cells> weights{};
  profile.is_saturated.fill(true);
  for (const TraceFrame& frame : trace.frames) {
    const auto all = static_cast<double>(pages_of(frame));
    if (all == 0) continue;
    const double window_s = static_cast<double>(frame.window_us) / 1e6;
    std::size_t bin = 0;
    double upto = static_cast<double>(frame.heat[0]);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const double position = (static_cast<double>(cell) + 0.5) / cells * all;
      while (upto < position && bin + 1 < heat_bins) {
        upto += static_cast<double>(frame.heat[++bin]);
      }
      const BinRate rate = rate_of_bin(bin);
      const double untouched = exp_of(-rate.middle * window_s);
      const double weight = frame.window_us > 0 ? std::max(1e-6, untouched * (1 - untouched)) : 1;
      Interval& sum = profile.rate[cell];
      sum.low += weight * rate.low;
      sum.middle += weight * rate.middle;
      sum.high += weight * rate.high;
      weights[cell] += weight;
      if (rate.middle * window_s < saturated_touches) profile.is_saturated[cell] = false;
    }
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    profile.rate[cell].low /= weights[cell];
    profile.rate[cell].middle /= weights[cell];
    profile.rate[cell].high /= weights[cell];
  }
  return profile;
}

enum class Tilt : std::uint8_t { none, cold_less, cold_more };

// Share of accesses to the coldest `part`; tilted so that it gets as little, or as much, as the
// bins allow.  Ranks that may be as hot as the border stay: they would tilt against themselves.
double cold_share(const Profile& profile, double part, Tilt tilt) {
  const double border_cell = part * cells;
  const auto at = std::min(static_cast<std::size_t>(border_cell), cells - 1);
  const double border = profile.rate[at].middle;
  double cold = 0;
  double all = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const Interval& bounds = profile.rate[cell];
    const bool is_cold = cell < at;
    double rate = bounds.middle;
    if (tilt != Tilt::none && (bounds.high < border || bounds.low > border)) {
      const bool is_raised = (tilt == Tilt::cold_more) == is_cold;
      rate = is_raised ? bounds.high : bounds.low;
      if (is_raised && profile.is_saturated[cell]) rate *= saturated_factor;
    }
    const double inside = std::clamp(border_cell - static_cast<double>(cell), 0.0, 1.0);
    cold += inside * rate;
    all += rate;
  }
  return all > 0 ? cold / all : 0;
}

// The same in one frame, as far as it goes.
double cold_share(const TraceFrame& frame, double part) {
  double left = part * static_cast<double>(pages_of(frame));
  double cold = 0;
  double all = 0;
  for (std::size_t bin = 0; bin < heat_bins; ++bin) {
    const auto pages = static_cast<double>(frame.heat[bin]);
    const double taken = std::min(left, pages);
    const double rate = rate_of_bin(bin).middle;
    left -= taken;
    cold += taken * rate;
    all += pages * rate;
  }
  return all > 0 ? cold / all : 0;
}

// How far frames differ: one standard deviation.  None where windows were varied on purpose, since
// each then shows another part of the heat.
double spread_of(const HeatTrace& trace, double part) {
  double sum = 0;
  double squares = 0;
  double frames = 0;
  std::uint64_t window_least = ~std::uint64_t{0};
  std::uint64_t window_most = 0;
  for (const TraceFrame& frame : trace.frames) {
    if (pages_of(frame) == 0) continue;
    window_least = std::min(window_least, frame.window_us);
    window_most = std::max(window_most, frame.window_us);
    const double share = cold_share(frame, part);
    sum += share;
    squares += share * share;
    frames += 1;
  }
  if (window_most / 2 > window_least) return 0;
  return std::sqrt(std::max(0.0, squares / frames - sum / frames * (sum / frames)));
}

Interval access_share(const HeatTrace& trace, const Profile& profile, double part) {
  const double spread = spread_of(trace, part);
  return {std::max(0.0, cold_share(profile, part, Tilt::cold_less) - spread),
          cold_share(profile, part, Tilt::none),
          std::min(1.0, cold_share(profile, part, Tilt::cold_more) + spread)};
}

// The program in the closed loop.
class Program {
 public:
  Program(const MachineModel& machine, double stall_share, double bandwidth_gbps)
      : solver_(machine), slow_(machine.tier_count - 1) {
    load_.class_count = 1;
    ClassLoad& own = load_.classes[0];
    own.weight[0] = own.weight[slow_] = 1;
    // Without a load of its own it keeps one line outstanding; with one, as many as draw the
    // bandwidth at the latency that this makes.
    const CurveValue loaded =
        curve_at(machine.tiers[0], bandwidth_gbps / machine.tiers[0].bandwidth_gbps);
    const double stall = std::clamp(stall_share, 0.0005, 1.0);
    own.think_ns = loaded.latency_ns * (1 - stall) / stall;
    const double lines = bandwidth_gbps / line_bytes * (loaded.latency_ns + own.think_ns);
    own.lines = std::max(lines, 1e-3);
    full_ = rate(0);
  }

  double slowdown(double slow_share) { return full_ / rate(slow_share) - 1; }

 private:
  double rate(double slow_share) {
    load_.classes[0].share[0] = 1 - slow_share;
    load_.classes[0].share[slow_] = slow_share;
    return solver_.solve(load_).rate[0];
  }

  LoadSolver solver_;
  std::size_t slow_;
  Load load_;
  double full_ = 1;
};

// The largest part at which the curve is still within a slowdown, linear between points.
double part_within(const std::vector<AdvicePoint>& curve, double Interval::*edge, double slowdown) {
  double part = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const double before = curve[i - 1].slowdown.*edge;
    const double after = curve[i].slowdown.*edge;
    if (after <= slowdown) {
      part = curve[i].slow_share;
      continue;
    }
    const double step = curve[i].slow_share - curve[i - 1].slow_share;
    return curve[i - 1].slow_share + step * std::max(0.0, slowdown - before) / (after - before);
  }
  return part;
}

}  // namespace

Advice advise(const HeatTrace& trace, const MachineModel& machine) {
  CXLTIER_CHECK(machine.tier_count >= 2);
  Advice advice;
  const Profile profile = profile_of(trace);
  double pages = 0;
  double frames = 0;
  for (const TraceFrame& frame : trace.frames) {
    pages += static_cast<double>(pages_of(frame));
    frames += pages_of(frame) > 0 ? 1 : 0;
  }
  CXLTIER_CHECK(frames > 0);
  double saturated = 0;
  double accesses = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    accesses += profile.rate[cell].middle;
    if (profile.is_saturated[cell]) saturated += profile.rate[cell].middle;
  }
  advice.bytes = static_cast<std::uint64_t>(pages / frames) * trace.page_size;
  advice.saturated_share = accesses > 0 ? saturated / accesses : 0;
  advice.is_stall_known = trace.stall_share.has_value();
  const double stall = trace.stall_share.value_or(1);
  const double bandwidth = trace.bandwidth_gbps.value_or(0.001);
  const double doubt = advice.is_stall_known ? trace.stall_uncertainty : 1;
  Program low(machine, std::max(0.0, stall - doubt), bandwidth);
  Program middle(machine, stall, bandwidth);
  Program high(machine, std::min(1.0, stall + doubt), bandwidth);
  for (std::size_t i = 0; i <= curve_steps; ++i) {
    AdvicePoint point;
    point.slow_share = static_cast<double>(i) / curve_steps;
    point.access_share = access_share(trace, profile, point.slow_share);
    point.slowdown = {low.slowdown(point.access_share.low),
                      middle.slowdown(point.access_share.middle),
                      high.slowdown(point.access_share.high)};
    // Bandwidth of a second tier may make a program faster; nothing here promises that.
    if (!advice.is_stall_known) point.slowdown.low = 0;
    advice.curve.push_back(point);
  }
  const auto bytes = static_cast<double>(advice.bytes);
  for (std::size_t i = 0; i < advised_slowdowns.size(); ++i) {
    AdviceAnswer& answer = advice.answers[i];
    answer.slowdown = advised_slowdowns[i];
    // Little fits where the slowdown is high.
    answer.slow_bytes = {bytes * part_within(advice.curve, &Interval::high, answer.slowdown),
                         bytes * part_within(advice.curve, &Interval::middle, answer.slowdown),
                         bytes * part_within(advice.curve, &Interval::low, answer.slowdown)};
  }
  return advice;
}

}  // namespace cxltier::simulator
