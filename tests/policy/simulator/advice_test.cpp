// SPDX-License-Identifier: Apache-2.0
//
// Advice on simulated programs whose answer is known: each is watched through access bits, its heat
// goes through the product's own region map and histogram into a trace, and what `advise` promises
// is then done to the program and measured.
#include "policy/simulator/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "policy/leaf_map.h"
#include "policy/rate.h"
#include "policy/simulator/oracle.h"
#include "policy/simulator/popularity.h"
#include "policy/simulator/simulation.h"

namespace cxltier::simulator {
namespace {

// How a recorder opens its windows.
//   adapted  as the runtime's controller does: until 5 to 15 % of the pages are touched
//   swept    and then also an eighth, a 64th and a 512th of that, in turn, which is what the times
//            of faults tell too; 10 us at least
enum class Windows : std::uint8_t { adapted, swept };

class RecordingPolicy final : public TieringPolicy {
 public:
  RecordingPolicy(HeatTrace& trace, Windows windows) : trace_(trace), windows_(windows) {}
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  void tick(View& view, std::vector<Order>& /*orders*/) override {
    const bool is_settled = view.now() >= seconds(30);  // before, it searches for its window
    const bool is_swept = is_settled && windows_ == Windows::swept;
    const double shorter = std::max(1e4, window_ns_ / std::pow(8, view.tick() % 4));
    const double window_ns = is_swept ? shorter : window_ns_;
    const std::uint64_t pages = view.leaf_units() * unit_pages;
    leaves_.resize(view.leaf_count());
    // Averages are of one window length only; a sweep looks at each scan alone.
    if (is_swept) std::fill(leaves_.begin(), leaves_.end(), Leaf{});
    const Nanoseconds window{static_cast<std::uint64_t>(window_ns)};
    TraceFrame frame{.time_ms = view.now().count / 1'000'000};
    std::uint64_t touched_all = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      const std::uint64_t touched = view.touched_pages(leaf, pages, window_ns);
      touched_all += touched;
      Leaf& seen = leaves_[leaf];
      seen.pages = static_cast<std::uint32_t>(pages);
      const Rate rate = rate_of_bits(static_cast<std::uint32_t>(touched), seen.pages, window);
      observe_leaf(seen, rate, {}, fading_of(seconds(1)));
      frame.heat[heat_bin_of(rate_of(score_of(seen, 13)))] += pages;
    }
    const double share =
        static_cast<double>(touched_all) / static_cast<double>(pages * view.leaf_count());
    if (!is_swept && share > 0.15) window_ns_ /= 2;
    if (!is_swept && share < 0.05) window_ns_ *= 2;
    window_ns_ = std::clamp(window_ns_, 1e5, 1e9);
    if (!is_settled) return;
    frame.pages[0] = pages * view.leaf_count();
    frame.window_us =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(window_ns / 1000 + 0.5));
    trace_.frames.push_back(frame);
  }

 private:
  HeatTrace& trace_;
  Windows windows_;
  std::vector<Leaf> leaves_;
  double window_ns_ = 1e6;
};

struct KnownProgram {
  std::string name;
  Popularity popularity;
  double stall_share = 1;      // of its time, alone on fast memory
  double bandwidth_share = 0;  // of the fast tier's
  // Its hottest leaf is thousands of times hotter than most: bits saturate in every window, and the
  // promise has one side only.
  bool is_extreme = false;
};

Popularity two_levels(double hot_leaves, double hot_accesses) {
  std::vector<std::uint32_t> order(512);
  std::iota(order.begin(), order.end(), 0u);
  const auto hot = static_cast<std::size_t>(hot_leaves * 512);
  return mixed(uniform_over(order, {0, hot}), hot_accesses, uniform_over(512));
}

Popularity zipf(double skew) {
  std::vector<std::uint32_t> order(512);
  std::iota(order.begin(), order.end(), 0u);
  return zipf_clustered(order, skew, 16'384);
}

std::vector<KnownProgram> known_programs() {
  return {{"half stalled, a fifth hot", two_levels(0.2, 0.9), 0.5, 0.05},
          {"all stalled, a tenth hot", two_levels(0.1, 0.95), 1, 0.02},
          {"uniform", uniform_over(512), 0.2, 0.02},
          {"zipf 0.99", zipf(0.99), 0.3, 0.05},
          {"zipf 0.8", zipf(0.8), 0.3, 0.02},
          {"zipf 1.2, busy", zipf(1.2), 0.4, 0.3, true}};
}

Workload workload_of(const KnownProgram& program, const MachineModel& machine) {
  Workload workload;
  workload.name = program.name;
  workload.leaf_count = program.popularity.size();
  workload.leaf_units = 8;
  workload.duration = seconds(60);
  workload.steady_from = seconds(30);
  workload.capacity_units[0] = workload.capacity_units[1] = footprint_units(workload);
  workload.popularity = {program.popularity};
  workload.phases.push_back({.start = {}, .renewed = {}});
  workload.class_count = 1;
  const TierModel& fast = machine.tiers[0];
  const double latency = curve_at(fast, program.bandwidth_share).latency_ns;
  workload.classes[0].think_ns = latency * (1 - program.stall_share) / program.stall_share;
  workload.classes[0].lines = program.bandwidth_share * fast.bandwidth_gbps / line_bytes *
                              (latency + workload.classes[0].think_ns);
  return workload;
}

// The slowdown when the truly coldest `bytes` are on the slow tier.
double true_slowdown(const MachineModel& machine, const Workload& workload, double bytes) {
  std::vector<std::size_t> order(workload.leaf_count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return workload.popularity[0][a] < workload.popularity[0][b];
  });
  double left = bytes / static_cast<double>(unit_bytes) / workload.leaf_units;
  std::vector<PerTier<float>> share(workload.leaf_count);
  for (const std::size_t leaf : order) {
    const double slow = std::clamp(left, 0.0, 1.0);
    left -= slow;
    share[leaf][1] = static_cast<float>(slow);
    share[leaf][0] = static_cast<float>(1 - slow);
  }
  const Demand demand = demand_of(workload, 0);
  std::vector<PerTier<float>> all_fast(workload.leaf_count);
  for (auto& leaf : all_fast) leaf[0] = 1;
  return progress_of(machine, workload, demand, all_fast) /
             progress_of(machine, workload, demand, share) -
         1;
}

class KnownAnswer : public ::testing::TestWithParam<std::size_t> {
 protected:
  HeatTrace record(const MachineModel& machine, const KnownProgram& program, Windows windows) {
    const Workload workload = workload_of(program, machine);
    HeatTrace trace;
    trace.tier_count = 2;
    trace.stall_share = program.stall_share;
    trace.stall_uncertainty = 0.02;
    trace.bandwidth_gbps = program.bandwidth_share * machine.tiers[0].bandwidth_gbps;
    RecordingPolicy policy(trace, windows);
    (void)simulate(machine, workload, policy, {});
    return trace;
  }
};

TEST_P(KnownAnswer, SlowdownIsWithinTwoPoints) {
  const KnownProgram program = known_programs()[GetParam()];
  for (const char* name : {"spr-cxl", "eurosys24-fit", "vistara"}) {
    const MachineModel& machine = *find_machine(name);
    const Workload workload = workload_of(program, machine);
    const Advice advice = advise(record(machine, program, Windows::swept), machine);
    for (const AdviceAnswer& answer : advice.answers) {
      const double truth = true_slowdown(machine, workload, answer.slow_bytes.middle);
      // Where all of it fits the promise has one side.
      const bool is_all = answer.slow_bytes.middle >= 0.999 * static_cast<double>(advice.bytes);
      if (!is_all && !program.is_extreme) {
        EXPECT_NEAR(truth, answer.slowdown, 0.02) << program.name << " on " << name;
      }
      EXPECT_LE(truth, answer.slowdown + 0.02) << program.name << " on " << name;
      EXPECT_LE(answer.slow_bytes.low, answer.slow_bytes.middle);
      EXPECT_LE(answer.slow_bytes.middle, answer.slow_bytes.high);
    }
  }
}

TEST_P(KnownAnswer, OneWindowLengthNeverPromisesTooMuch) {
  const KnownProgram program = known_programs()[GetParam()];
  const MachineModel& machine = *find_machine("spr-cxl");
  const Workload workload = workload_of(program, machine);
  const Advice advice = advise(record(machine, program, Windows::adapted), machine);
  for (const AdviceAnswer& answer : advice.answers) {
    const double truth = true_slowdown(machine, workload, answer.slow_bytes.middle);
    EXPECT_LE(truth, answer.slowdown + 0.02) << program.name;
  }
}

TEST_P(KnownAnswer, TruthLiesInsideTheInterval) {
  const KnownProgram program = known_programs()[GetParam()];
  const MachineModel& machine = *find_machine("spr-cxl");
  const Workload workload = workload_of(program, machine);
  for (const Windows windows : {Windows::adapted, Windows::swept}) {
    const Advice advice = advise(record(machine, program, windows), machine);
    for (std::size_t i = 10; i <= 100; i += 10) {
      const AdvicePoint& point = advice.curve[i];
      const double truth =
          true_slowdown(machine, workload, point.slow_share * static_cast<double>(advice.bytes));
      EXPECT_LE(point.slowdown.low, truth + 0.005) << program.name << ' ' << i;
      EXPECT_GE(point.slowdown.high, truth - 0.005) << program.name << ' ' << i;
    }
  }
}

TEST_P(KnownAnswer, WithoutAStallShareItPromisesAnUpperBound) {
  const KnownProgram program = known_programs()[GetParam()];
  const MachineModel& machine = *find_machine("spr-cxl");
  const Workload workload = workload_of(program, machine);
  HeatTrace trace = record(machine, program, Windows::swept);
  trace.stall_share.reset();
  const Advice advice = advise(trace, machine);
  EXPECT_FALSE(advice.is_stall_known);
  for (const AdviceAnswer& answer : advice.answers) {
    EXPECT_LE(true_slowdown(machine, workload, answer.slow_bytes.low), answer.slowdown + 0.005)
        << program.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, KnownAnswer, ::testing::Range(std::size_t{0}, std::size_t{6}));

}  // namespace
}  // namespace cxltier::simulator
