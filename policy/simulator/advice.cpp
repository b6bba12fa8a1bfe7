// SPDX-License-Identifier: Apache-2.0
//
// From heat to the curve.
#include "policy/simulator/advice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/check.h"
#include "policy/simulator/load_solver.h"

namespace cxltier::simulator {
namespace {

constexpr std::size_t steps = 100;
constexpr double share_sigma = 1;  // of the spread between frames

std::uint64_t pages_of(const TraceFrame& frame) {
  return std::accumulate(frame.heat.begin(), frame.heat.end(), std::uint64_t{0});
}

// Share of accesses to the coldest `part` of a frame's pages, with rates from `rates`.
double cold_share(const TraceFrame& frame, const std::array<double, heat_bins>& rates,
                  double part) {
  double left = part * static_cast<double>(pages_of(frame));
  double cold = 0;
  double all = 0;
  for (std::size_t bin = 0; bin < heat_bins; ++bin) {
    const auto pages = static_cast<double>(frame.heat[bin]);
    const double taken = std::min(left, pages);
    left -= taken;
    cold += taken * rates[bin];
    all += pages * rates[bin];
  }
  return all > 0 ? cold / all : 0;
}

// Rates of the bins: as they are in the middle, or so that the coldest `part` gets as little, or as
// much, as the bins allow.  One bin holds both cold and hot pages: its pages may differ by its
// width, so only bins below and above it are tilted against each other, by half their width.
std::array<double, heat_bins> tilted_rates(const TraceFrame& frame, double part, double tilt) {
  std::array<double, heat_bins> rates{};
  const double border = part * static_cast<double>(pages_of(frame));
  double before = 0;
  for (std::size_t bin = 0; bin < heat_bins; ++bin) {
    const BinRate rate = rate_of_bin(bin);
    const auto pages = static_cast<double>(frame.heat[bin]);
    const bool is_cold = before + pages <= border;
    const bool is_hot = before >= border;
    before += pages;
    const double to_high = (rate.high - rate.middle) / 2;
    const double to_low = (rate.middle - rate.low) / 2;
    const double step = tilt == 0 || is_cold == is_hot ? 0
                        : (tilt > 0) == is_cold        ? to_high
                                                       : -to_low;
    rates[bin] = rate.middle + step;
  }
  return rates;
}

// Mean over frames, and the spread between them on top of the bins' width.
Interval access_share(const HeatTrace& trace, double part) {
  Interval share;
  double squares = 0;
  double frames = 0;
  for (const TraceFrame& frame : trace.frames) {
    if (pages_of(frame) == 0) continue;
    const double middle = cold_share(frame, tilted_rates(frame, part, 0), part);
    share.middle += middle;
    squares += middle * middle;
    share.low += cold_share(frame, tilted_rates(frame, part, -1), part);
    share.high += cold_share(frame, tilted_rates(frame, part, 1), part);
    frames += 1;
  }
  share.low /= frames;
  share.middle /= frames;
  share.high /= frames;
  const double spread =
      share_sigma * std::sqrt(std::max(0.0, squares / frames - share.middle * share.middle));
  share.low = std::max(0.0, share.low - spread);
  share.high = std::min(1.0, share.high + spread);
  return share;
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
double part_within(const std::vector<AdvicePoint>& curve, double Interval::*edge,
                   double slowdown) {
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
  double pages = 0;
  double hottest = 0;
  double frames = 0;
  for (const TraceFrame& frame : trace.frames) {
    if (pages_of(frame) == 0) continue;
    pages += static_cast<double>(pages_of(frame));
    hottest += static_cast<double>(frame.heat[heat_bins - 1]);
    frames += 1;
  }
  CXLTIER_CHECK(frames > 0);
  advice.bytes = static_cast<std::uint64_t>(pages / frames) * trace.page_size;
  advice.saturated_share = hottest / pages;
  advice.is_stall_known = trace.stall_share.has_value();
  const double stall = trace.stall_share.value_or(1);
  const double bandwidth = trace.bandwidth_gbps.value_or(0.001);
  const double doubt = advice.is_stall_known ? trace.stall_uncertainty : 1;
  Program low(machine, std::max(0.0, stall - doubt), bandwidth);
  Program middle(machine, stall, bandwidth);
  Program high(machine, std::min(1.0, stall + doubt), bandwidth);
  for (std::size_t i = 0; i <= steps; ++i) {
    AdvicePoint point;
    point.slow_share = static_cast<double>(i) / steps;
    point.access_share = access_share(trace, point.slow_share);
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
