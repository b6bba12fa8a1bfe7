// SPDX-License-Identifier: Apache-2.0
//
// Rates by hand, and a bucket that neither saves nor lends without end.
#include "policy/move_budget.h"

#include <gtest/gtest.h>

namespace cxltier {
namespace {

const Parameters parameters = preset_of(PolicyKind::balance);
constexpr MoveLoad idle{.slow_mbps = 85'000,
                        .slow_latency_ps = 140'000,
                        .slow_latency_idle_ps = 135'000,
                        .page_cost_ns = 1'000,
                        .cpus = 15};

TEST(MoveBudget, AnIdleTierAllowsTheMost) {
  EXPECT_EQ(move_rate(idle, parameters), 2'000'000'000u);
  MoveLoad recent = idle;
  recent.pacing = Pacing::recency;
  EXPECT_EQ(move_rate(recent, parameters), 8'000'000'000u);
}

TEST(MoveBudget, ALoadedTierAllowsLess) {
  MoveLoad loaded = idle;
  loaded.slow_mbps = 20'000;
  loaded.slow_latency_ps = 10 * loaded.slow_latency_idle_ps;
  // A quarter of a tenth of 20 GB/s.
  EXPECT_EQ(move_rate(loaded, parameters), 500'000'000u);
  loaded.slow_latency_ps = 1000 * loaded.slow_latency_idle_ps;
  EXPECT_EQ(move_rate(loaded, parameters), 64'000'000u) << "never nothing";
}

TEST(MoveBudget, StallIsBounded) {
  // 12 us for each 4 KiB page: 5 % of 15 processors are 62,500 pages a second.
  MoveLoad costly = idle;
  costly.page_cost_ns = 12'000;
  EXPECT_EQ(move_rate(costly, parameters), 62'500u * 4096u);
  costly.cpus = 1;
  EXPECT_EQ(move_rate(costly, parameters), 64'000'000u);
}

TEST(MoveBudget, SavesOneSecondAndPaysDebtsFirst) {
  MoveBudget budget;
  EXPECT_EQ(budget.bytes(), 0);
  for (int i = 0; i < 10; ++i) budget.fill(1'000'000, seconds(1));
  EXPECT_EQ(budget.bytes(), 1'000'000);
  budget.spend({3'500'000});
  EXPECT_LE(budget.bytes(), 0);
  budget.fill(1'000'000, seconds(1));
  EXPECT_LE(budget.bytes(), 0);
  budget.fill(1'000'000, seconds(1));
  budget.fill(1'000'000, seconds(1));
  EXPECT_EQ(budget.bytes(), 500'000);
}

}  // namespace
}  // namespace cxltier
