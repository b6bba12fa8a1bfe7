// SPDX-License-Identifier: Apache-2.0
//
// Same arguments, same bits: on every machine, with every compiler, on any number of threads.
#include "policy/simulator/simulation.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "policy/simulator/baselines.h"
#include "policy/simulator/grid.h"
#include "policy/simulator/oracle.h"
#include "policy/simulator/workloads.h"

namespace cxltier::simulator {
namespace {

struct Golden {
  const char* workload;
  const char* machine;
  const char* policy;
  std::uint64_t digest;
};

// Recorded once; a difference is a change of the model, or of what a machine computes.
constexpr Golden goldens[] = {
    {"gups", "colloid-a-135", "first-touch", 0x940f289b94cfea29},
    {"zipf-0.99", "eurosys24", "hemem-like", 0x440848ae1d3b5ae2},
    {"contention-step", "colloid-b-192", "colloid-memtis", 0x8479a26f589de02b},
    {"churn", "spr-cxl", "arms-like", 0xa61900ed401bad2b},
    {"scan-pollution", "vistara", "numa-balancing-2-like", 0x3af5eddba5d91485},
    {"chase-stream", "skx-remote", "bwap-like", 0x3b2b004c23a2f96b},
    {"gups", "three-tiers", "clairvoyant", 0x5d366b99d0d86094},
};

Outcome run(const Golden& golden) {
  const Setting setting = *make_setting({golden.workload, golden.machine, 4, 1}, 1);
  const auto policy = make_policy(golden.policy);
  return simulate(*setting.machine, setting.workload, *policy, {});
}

TEST(Simulation, DigestsAreTheGoldenOnes) {
  for (const Golden& golden : goldens) {
    EXPECT_EQ(run(golden).digest, golden.digest)
        << golden.workload << ' ' << golden.machine << ' ' << golden.policy << std::hex << " 0x"
        << run(golden).digest;
  }
}

TEST(Simulation, ThreadsDoNotMatter) {
  std::vector<std::uint64_t> digests(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    threads.emplace_back([&digests, i] { digests[i] = run(goldens[i % 2 == 0 ? 1 : 3]).digest; });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 2; i < digests.size(); ++i) EXPECT_EQ(digests[i], digests[i - 2]);
}

TEST(Simulation, SeedChangesNoiseAndPlaces) {
  const Setting one = *make_setting({"zipf-0.99", "spr-cxl", 4, 0}, 1);
  const Setting two = *make_setting({"zipf-0.99", "spr-cxl", 4, 0}, 2);
  EXPECT_NE(one.workload.popularity, two.workload.popularity);
  const auto policy = make_policy("memtis-like");
  const auto other = make_policy("memtis-like");
  const Outcome a = simulate(*one.machine, one.workload, *policy, {.seed = 1});
  const Outcome b = simulate(*one.machine, one.workload, *other, {.seed = 2});
  EXPECT_NE(a.digest, b.digest);
  EXPECT_NEAR(a.steady_progress / b.steady_progress, 1, 0.02);
}

TEST(Simulation, TimelineAddsUpToTheRun) {
  const Setting setting = *make_setting({"shift-25", "spr-cxl", 4, 0}, 1);
  const auto policy = make_policy("hottest-first");
  const Outcome outcome =
      simulate(*setting.machine, setting.workload, *policy, {.timeline_step = milliseconds(500)});
  double progress = 0;
  double moved = 0;
  for (const TimePoint& point : outcome.timeline) {
    progress += point.progress;
    moved += point.moved_bytes;
    EXPECT_NEAR(point.share[0] + point.share[1], 1, 1e-9);
  }
  EXPECT_NEAR(progress / static_cast<double>(outcome.timeline.size()), outcome.progress, 1e-9);
  EXPECT_NEAR(moved, outcome.moved_bytes, 1);
}

TEST(Simulation, RecoveryIsMeasuredFromTheChange) {
  // HeMem's lists follow a shifted hot set in seconds; first touch never gets near the best.
  const Setting setting = *make_setting({"shift-100", "spr-cxl", 4, 0}, 1);
  const double best = best_progress(*setting.machine, setting.workload).back();
  const auto hemem = make_policy("colloid-hemem");
  const Outcome fast =
      simulate(*setting.machine, setting.workload, *hemem, {.recovery_progress = best});
  EXPECT_GT(fast.recovery_s, 0.5);
  EXPECT_LT(fast.recovery_s, 30);
  const auto still = make_policy("first-touch");
  EXPECT_LT(
      simulate(*setting.machine, setting.workload, *still, {.recovery_progress = best}).recovery_s,
      0);
}

}  // namespace
}  // namespace cxltier::simulator
