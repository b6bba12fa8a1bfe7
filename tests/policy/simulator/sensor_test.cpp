// SPDX-License-Identifier: Apache-2.0
//
// What each sensor shows of a known truth.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "policy/simulator/simulation.h"
#include "policy/simulator/workloads.h"

namespace cxltier::simulator {
namespace {

// Looks once a second and moves nothing.
class Watcher final : public TieringPolicy {
 public:
  explicit Watcher(std::function<void(View&)> look) : look_(std::move(look)) {}
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  void tick(View& view, std::vector<Order>& /*orders*/) override { look_(view); }

 private:
  std::function<void(View&)> look_;
};

void watch(const std::function<void(View&)>& look) {
  const MachineModel& machine = *find_machine("colloid-a-135");
  Workload workload = *make_workload("gups", machine, {.ratio = 2});
  workload.duration = seconds(4);
  workload.steady_from = seconds(1);
  Watcher watcher(look);
  (void)simulate(machine, workload, watcher, {});
}

// Accesses of a 4 KiB page of a leaf per ns.
double page_rate(const View& view, std::size_t leaf) {
  const double all = view.system().load().rate[0];
  return all * view.system().workload().popularity[0][leaf] / view.leaf_units() / unit_pages;
}

TEST(Sensors, AccessBitsSaturateAsTheyMust) {
  watch([](View& view) {
    double found = 0;
    double expected = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      found += static_cast<double>(view.touched_pages(leaf, 4096, 1e7));
      expected += 4096 * (1 - std::exp(-page_rate(view, leaf) * 1e7));
    }
    EXPECT_NEAR(found / expected, 1, 0.005);
  });
}

TEST(Sensors, SamplesAreOneInThePeriodAndCost) {
  watch([](View& view) {
    double found = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      found += static_cast<double>(view.samples(leaf, 5003));
    }
    const double expected = view.system().load().rate[0] * 1e9 / 5003;
    EXPECT_NEAR(found / expected, 1, 0.01);
    EXPECT_DOUBLE_EQ(view.charged_core_ns(), found * 200);
  });
}

TEST(Sensors, WritesAreHalfOfUpdates) {
  watch([](View& view) {
    double found = 0;
    double expected = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      found += static_cast<double>(view.written_pages(leaf, 4096, 1e7));
      expected += 4096 * (1 - std::exp(-page_rate(view, leaf) * 0.5 * 1e7));
    }
    EXPECT_NEAR(found / expected, 1, 0.005);
  });
}

TEST(Sensors, ProbesAreNearInSpiteOfOutliers) {
  watch([](View& view) {
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(view.probe_ns(t) / view.system().load().latency_ns[t], 1, 0.08);
    }
  });
}

TEST(Sensors, CountersAgreeWithTheLoad) {
  watch([](View& view) {
    const LoadResult& load = view.system().load();
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(view.counted_latency_ns(t) / load.latency_ns[t], 1, 0.03);
      EXPECT_NEAR(view.counted_rate(t) / (load.rate[0] * view.system().share(0, t)), 1, 0.03);
    }
  });
}

TEST(Sensors, HintFaultsCountFirstAccesses) {
  watch([](View& view) {
    double found = 0;
    double expected = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      found += static_cast<double>(view.faults_within(leaf, 1000, unit_pages, 2e6));
      expected += 1000 * (1 - std::exp(-page_rate(view, leaf) * 2e6));
    }
    EXPECT_NEAR(found / expected, 1, 0.01);
  });
}

}  // namespace
}  // namespace cxltier::simulator
