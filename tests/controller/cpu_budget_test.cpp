// SPDX-License-Identifier: Apache-2.0
//
// The promise of one percent, kept over any sequence of costs.
#include "runtime/controller/cpu_budget.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace cxltier {
namespace {

TEST(CpuBudget, LooksOnceASecondWhileTheCreditLasts) {
  CpuBudget budget;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(budget.spend(milliseconds(100), seconds(1), Pace::settling), seconds(1)) << i;
  }
}

TEST(CpuBudget, SettlesAtThreePercentOnceTheCreditIsSpent) {
  CpuBudget budget;
  budget.spend(seconds(4), seconds(1), Pace::settling);
  EXPECT_EQ(budget.spend(milliseconds(100), seconds(1), Pace::settling), milliseconds(3300));
}

TEST(CpuBudget, LooksAtHalfAPercentWhileNothingChanges) {
  CpuBudget budget;
  EXPECT_EQ(budget.spend(milliseconds(50), seconds(1), Pace::quiet), seconds(10));
}

TEST(CpuBudget, NeverWaitsLongerThanAMinute) {
  CpuBudget budget;
  EXPECT_EQ(budget.spend(seconds(1000), seconds(1), Pace::quiet), CpuBudget::interval_max);
}

// Whatever scans cost: while nothing changes, what was used is at most the credit at the start, one
// percent of the time, and the last scan, whose cost nobody could know.
TEST(CpuBudget, KeepsToOnePercentInSteadyState) {
  constexpr unsigned seed = 99;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    CpuBudget budget;
    Nanoseconds used{};
    Nanoseconds passed{};
    Nanoseconds wait = seconds(1);
    const std::uint64_t cost_ms_max = 1 + random() % 250;
    for (int i = 0; i < 500; ++i) {
      const Nanoseconds cost = milliseconds(1 + random() % cost_ms_max);
      passed = passed + wait;
      used = used + cost;
      wait = budget.spend(cost, wait, Pace::quiet);
      ASSERT_LE(used.count,
                passed.count / 100 + CpuBudget::credit_max.count + milliseconds(cost_ms_max).count)
          << "round " << round << " scan " << i;
    }
  }
}

}  // namespace
}  // namespace cxltier
