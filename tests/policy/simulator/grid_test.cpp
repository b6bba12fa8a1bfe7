// SPDX-License-Identifier: Apache-2.0
//
// The quick grid: one cell of each workload.  The oracle is above every policy in every cell, the
// product's own policy keeps its promises, and each of its mechanisms earns its place.
#include "policy/simulator/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace cxltier::simulator {
namespace {

const std::vector<CellResult>& quick_results() {
  static const std::vector<CellResult> results = [] {
    const std::vector<Cell> cells = grid_cells(GridSize::quick);
    const std::vector<std::string> policies = {"first-touch",  "hottest-first",        "tpp-like",
                                               "memtis-like",  "colloid-hemem",        "balance",
                                               "balance-bits", clairvoyant_name.data()};
    std::vector<CellResult> done(cells.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < cells.size(); i = next++) {
        done[i] = run_cell(cells[i], policies, 1);
      }
    };
    std::thread other(work);
    work();
    other.join();
    return done;
  }();
  return results;
}

TEST(QuickGrid, NobodyIsAboveTheOracle) {
  for (const CellResult& result : quick_results()) {
    EXPECT_TRUE(result.above_oracle.empty())
        << name_of(result.cell) << ' ' << result.above_oracle.front();
    EXPECT_LE(result.best_steady, result.cap_steady * 1.000001) << name_of(result.cell);
  }
}

TEST(QuickGrid, OwnPolicyIsNearTheOracle) {
  const Summary summary = summarise(quick_results(), own_name);
  std::printf("geomean %.4f worst %.4f over first touch %.4f\n", summary.geomean_of_oracle,
              summary.worst_cell_of_oracle, summary.min_over_first_touch);
  EXPECT_GE(summary.geomean_of_oracle, 0.97);
  EXPECT_GE(summary.min_over_first_touch, 0.99);
  EXPECT_GE(summary.contended_over_model_best, 0.97);
  EXPECT_LE(summary.unloaded_penalty, 0.01);
}

TEST(QuickGrid, OwnPolicyMovesFarLessThanColloid) {
  EXPECT_LE(summarise(quick_results(), own_name).extra_bytes_over_colloid, 0.1);
}

TEST(Grid, CellsHaveDifferentNamesAndKnownParts) {
  for (const GridSize size : {GridSize::quick, GridSize::full}) {
    std::vector<std::string> names;
    for (const Cell& cell : grid_cells(size)) {
      names.push_back(name_of(cell));
      EXPECT_TRUE(make_setting(cell, 1).has_value()) << names.back();
    }
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  }
}

TEST(Grid, EveryPolicyHasItsName) {
  for (const std::string& name : policy_names()) EXPECT_NE(make_policy(name), nullptr) << name;
  EXPECT_EQ(make_policy("none"), nullptr);
  EXPECT_EQ(make_policy("hemem-like/5"), nullptr);
}

}  // namespace
}  // namespace cxltier::simulator
