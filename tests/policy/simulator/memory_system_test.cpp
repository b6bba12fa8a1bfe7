// SPDX-License-Identifier: Apache-2.0
//
// Placement, moving and their costs, on workloads small enough to compute by hand; and what every
// known workload must be.
#include "policy/simulator/memory_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "policy/simulator/popularity.h"
#include "policy/simulator/workloads.h"

namespace cxltier::simulator {
namespace {

constexpr PerTier<double> all_fast = {1};

Workload small_workload(const MachineModel& machine) {
  Workload workload = *make_workload("gups", machine, {.ratio = 3});
  return workload;
}

MemorySystem placed(const MachineModel& machine, const Workload& workload) {
  MemorySystem system(machine, workload);
  for (std::uint32_t leaf = 0; leaf < workload.leaf_count; ++leaf) system.place(leaf, all_fast);
  return system;
}

class Moving : public ::testing::Test {
 protected:
  const MachineModel& machine_ = *find_machine("spr-cxl");
  Workload workload_ = small_workload(machine_);
  MemorySystem system_ = placed(machine_, workload_);
};

TEST_F(Moving, FirstTouchFillsTheFastTierAndSpills) {
  EXPECT_TRUE(system_.is_consistent());
  EXPECT_EQ(system_.free_units(0), 0u);
  EXPECT_EQ(system_.resident(0)[0], workload_.leaf_units);
  EXPECT_EQ(system_.resident(workload_.leaf_count - 1)[1], workload_.leaf_units);
}

TEST_F(Moving, RateIsWhatTheMoverMay) {
  std::vector<Order> orders;
  for (std::uint32_t leaf = 0; leaf < 256; ++leaf) {
    orders.push_back({.leaf = leaf, .from = 0, .to = 1, .units = 8});
  }
  system_.replace_orders(orders, {.rate_gbps = 2, .stall_us_unit = 500, .threads = 1});
  for (int i = 0; i < 100; ++i) system_.advance();
  // 2 GB in a second are 953 units of 2 MiB.
  EXPECT_NEAR(static_cast<double>(system_.units_moved()), 2e9 / unit_bytes, 2);
  EXPECT_TRUE(system_.is_consistent());
}

TEST_F(Moving, RateIsAtMostWhatStallsLeave) {
  std::vector<Order> orders;
  for (std::uint32_t leaf = 0; leaf < 256; ++leaf) {
    orders.push_back({.leaf = leaf, .from = 0, .to = 1, .units = 8});
  }
  system_.replace_orders(orders, {.rate_gbps = 100, .stall_us_unit = 1000, .threads = 1});
  for (int i = 0; i < 100; ++i) system_.advance();
  EXPECT_NEAR(static_cast<double>(system_.units_moved()), 1000, 2);
}

TEST_F(Moving, FullTierRefuses) {
  system_.replace_orders({{.leaf = 1023, .from = 1, .to = 0, .units = 8}}, {});
  for (int i = 0; i < 10; ++i) system_.advance();
  EXPECT_EQ(system_.units_moved(), 0u);
  EXPECT_TRUE(system_.is_consistent());
}

TEST_F(Moving, MovesTakeCoresAndBandwidth) {
  system_.advance();
  const double before = system_.progress();
  std::vector<Order> orders;
  // There and back: shares stay nearly the same, costs remain.
  for (int i = 0; i < 100; ++i) {
    orders.push_back({.leaf = 0, .from = 0, .to = 1, .units = 4});
    orders.push_back({.leaf = 0, .from = 1, .to = 0, .units = 4});
  }
  system_.replace_orders(orders, {.rate_gbps = 4, .stall_us_unit = 500, .threads = 1});
  for (int i = 0; i < 20; ++i) system_.advance();
  // About 0.95 of one core of 16 is spent moving, and more is lost to traffic.
  EXPECT_LT(system_.progress(), before * (1 - 0.9 * 0.9 / 16));
}

TEST_F(Moving, ChargesTakeCores) {
  system_.advance();
  const double before = system_.progress();
  // Half of the cores for a second.
  system_.charge(machine_.cores / 2 * 1e9, system_.now() + seconds(1));
  for (int i = 0; i < 50; ++i) system_.advance();
  EXPECT_LT(system_.progress(), before);
  for (int i = 0; i < 60; ++i) system_.advance();
  EXPECT_NEAR(system_.progress() / before, 1, 1e-9);
}

TEST_F(Moving, SharesFollowPlacement) {
  const double before = system_.share(0, 0);
  const double popularity = workload_.popularity[0][0];
  system_.replace_orders({{.leaf = 0, .from = 0, .to = 1, .units = 8}}, {});
  for (int i = 0; i < 10; ++i) system_.advance();
  EXPECT_NEAR(system_.share(0, 0), before - popularity, 1e-12);
}

TEST(Interleaving, PlacementSharesAreMetOverManyLeaves) {
  const MachineModel& machine = *find_machine("spr-cxl");
  const Workload workload = *make_workload("uniform", machine, {.ratio = 1});
  MemorySystem system(machine, workload);
  for (std::uint32_t leaf = 0; leaf < workload.leaf_count; ++leaf) {
    system.place(leaf, {0.3, 0.7});
  }
  EXPECT_NEAR(static_cast<double>(system.used_units(0)),
              0.3 * static_cast<double>(footprint_units(workload)), 1);
  EXPECT_TRUE(system.is_consistent());
}

TEST(Workloads, AreValidOnEveryMachineAndRatio) {
  for (const MachineModel& machine : known_machines()) {
    for (const std::string_view name : known_workloads()) {
      for (const double ratio : {1.0, 16.0}) {
        const auto workload = make_workload(name, machine, {.ratio = ratio, .load = 3});
        ASSERT_TRUE(workload.has_value()) << name;
        EXPECT_TRUE(is_valid(*workload, machine)) << name << ' ' << machine.name;
        double weight = 0;
        for (std::size_t c = 0; c < workload->class_count; ++c) {
          weight += workload->classes[c].weight;
        }
        EXPECT_NEAR(weight, 1, 1e-12) << name;
      }
    }
  }
  EXPECT_FALSE(make_workload("none", *find_machine("spr-cxl"), {}).has_value());
}

TEST(Workloads, ZipfHasThePublishedConcentration) {
  // Exponent 0.99 on a million items: 83 % of accesses go to a tenth of them.
  std::vector<std::uint32_t> order(1000);
  std::iota(order.begin(), order.end(), 0u);
  const Popularity zipf = zipf_clustered(order, 0.99, 1000);
  EXPECT_NEAR(std::accumulate(zipf.begin(), zipf.begin() + 100, 0.0), 0.83, 0.01);
}

TEST(Workloads, ScramblingRemovesSkewBetweenLeaves) {
  const Popularity scrambled = zipf_scrambled(1024, 0.99, 16'384, 1);
  const std::vector<std::uint32_t> order = shuffled(1024, 1);
  const Popularity clustered = zipf_clustered(order, 0.99, 16'384);
  EXPECT_LT(*std::ranges::max_element(scrambled), *std::ranges::max_element(clustered) / 4);
  EXPECT_NEAR(std::accumulate(scrambled.begin(), scrambled.end(), 0.0), 1, 1e-9);
}

TEST(Workloads, ColloidsFastTierHoldsTheHotThird) {
  const MachineModel& machine = *find_machine("colloid-a-135");
  const Workload workload = make_colloid_gups(machine, 0, 5);
  const double bytes = static_cast<double>(footprint_units(workload) * unit_bytes);
  EXPECT_NEAR(bytes / (1024.0 * 1024 * 1024), 72, 2);
  std::vector<double> hottest = workload.popularity[0];
  std::ranges::sort(hottest, std::greater<>());
  const auto fits = workload.capacity_units[0] / workload.leaf_units;
  const double share =
      std::accumulate(hottest.begin(), hottest.begin() + static_cast<std::ptrdiff_t>(fits), 0.0);
  EXPECT_NEAR(share, 0.9 + 0.1 * 8 / 48, 0.001);
}

}  // namespace
}  // namespace cxltier::simulator
