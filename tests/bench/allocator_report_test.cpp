// SPDX-License-Identifier: Apache-2.0
//
// What allocator_bench concludes from its runs: ratios within a round, failed rounds left out, and
// a gate without figures never held.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/allocator/report.h"

namespace cxltier::bench {
namespace {

constexpr double failed = std::numeric_limits<double>::quiet_NaN();

AllRuns two_loads() {
  AllRuns runs;
  runs["pair_64"]["jemalloc"] = {{10, 100, 10}, 80};
  runs["pair_64"]["cxltier"] = {{20, 200, failed}, 88};
  runs["pair_200k"]["jemalloc"] = {{300, 300, 300}, {}};
  runs["pair_200k"]["cxltier"] = {{150, 150, 150}, {}};
  return runs;
}

TEST(AllocatorReport, TakesTheMedianOfWhatSucceeded) {
  EXPECT_EQ(median({3, failed, 1, 2}), 2);
  EXPECT_EQ(median({failed}), std::nullopt);
  EXPECT_EQ(median({}), std::nullopt);
}

TEST(AllocatorReport, ComparesWithinARound) {
  const AllRuns runs = two_loads();
  EXPECT_DOUBLE_EQ(*ratio_to_jemalloc(runs.at("pair_64"), "cxltier"), 2);
  EXPECT_EQ(ratio_to_jemalloc(runs.at("pair_64"), "glibc"), std::nullopt);
  EXPECT_DOUBLE_EQ(geometric_means(runs).at("cxltier"), 1);  // 2 and 1/2
}

TEST(AllocatorReport, AGateWithoutFiguresIsNotHeld) {
  const std::vector<Gate> gates = gates_of(two_loads());
  for (const Gate& gate : gates) EXPECT_TRUE(gate.value || !gate.held()) << gate.name;
  EXPECT_TRUE(gates[0].held());  // 88 of 80 instructions
  EXPECT_DOUBLE_EQ(*gates[0].value, 1.1);
  EXPECT_FALSE(gates[1].value.has_value());
  EXPECT_DOUBLE_EQ(*gates[2].value, 2);
  EXPECT_FALSE(gates[2].held());  // five times is wanted
}

TEST(AllocatorReport, WritesWhatWasMeasuredAndNothingElse) {
  const nlohmann::json document = json_of(two_loads());
  const nlohmann::json& cell = document["cases"]["pair_64"]["cxltier"];
  EXPECT_EQ(cell["instructions_per_pair"], 88.0);
  EXPECT_EQ(cell["ratio_to_jemalloc"], 2.0);
  EXPECT_FALSE(document["cases"]["pair_200k"]["cxltier"].contains("instructions_per_pair"));
  EXPECT_EQ(document["gates"].size(), 3u);
}

}  // namespace
}  // namespace cxltier::bench
