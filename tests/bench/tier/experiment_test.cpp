// SPDX-License-Identifier: Apache-2.0
//
// Rounds in random order, rejection by cause, and rounds that drifted.
#include "bench/tier/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace cxltier::bench {
namespace {

Task task_of(const std::string& name, std::vector<std::string>& log) {
  Task task;
  task.cell.id = name;
  task.cell.label = name;
  task.measure = [name, &log] {
    log.push_back(name);
    return Measured{1, 0};
  };
  return task;
}

Plan endless() {
  Plan plan;
  plan.deadline_s = 1e18;
  // What happens on the machine that runs this test must not decide it.
  plan.judge = [](const Disturbance&, const DisturbanceLimits&) {
    return std::vector<std::string>{};
  };
  return plan;
}

TEST(Experiment, EachRoundHasEachTaskOnceInAnOrderOfItsOwn) {
  std::vector<std::string> log;
  std::vector<Task> tasks;
  for (const char* name : {"a", "b", "c", "d", "e"}) tasks.push_back(task_of(name, log));
  Plan plan = endless();
  plan.rounds = 12;
  Document document;
  const ExperimentOutcome outcome = run_experiment(std::move(tasks), plan, Timer{}, document);
  EXPECT_EQ(outcome.rounds, 12);
  ASSERT_EQ(log.size(), 60u);
  std::set<std::vector<std::string>> orders;
  for (std::size_t round = 0; round < 12; ++round) {
    std::vector<std::string> order(log.begin() + static_cast<std::ptrdiff_t>(5 * round),
                                   log.begin() + static_cast<std::ptrdiff_t>(5 * round + 5));
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  }
  EXPECT_GT(orders.size(), 8u);
  EXPECT_EQ(document.cells.size(), 5u);
}

TEST(Experiment, TheDeadlineLeavesTheLeastNumberOfRounds) {
  std::vector<std::string> log;
  Plan plan = endless();
  plan.deadline_s = 0;  // long past
  plan.rounds = 50;
  std::vector<Task> tasks;
  tasks.push_back(task_of("a", log));
  Document document;
  EXPECT_EQ(run_experiment(std::move(tasks), plan, Timer{}, document).rounds, 3);
}

TEST(Experiment, ARoundThatDriftedIsRepeatedAndItsSamplesStay) {
  std::vector<std::string> log;
  Plan plan = endless();
  plan.rounds = 3;
  int calls = 0;
  plan.sentinel = [&calls] { return ++calls == 2 ? 150.0 : 100.0; };  // the first round's end
  std::vector<Task> tasks;
  tasks.push_back(task_of("a", log));
  Document document;
  const ExperimentOutcome outcome = run_experiment(std::move(tasks), plan, Timer{}, document);
  EXPECT_EQ(outcome.rounds_repeated, 1);
  const Cell& cell = document.cells.front();
  ASSERT_EQ(cell.samples.size(), 4u);
  EXPECT_EQ(cell.samples[0].causes, std::vector<std::string>{"drift"});
  EXPECT_EQ(cell.summary.count, 3u);
  EXPECT_EQ(cell.summary.rejected, 1u);
  EXPECT_FALSE(document.flags.empty());
}

TEST(Experiment, WarmUpEndsWhenTheValuesStandStill) {
  std::vector<std::string> log;
  Plan plan = endless();
  plan.rounds = 3;
  int calls = 0;
  plan.warm_up = [&calls] { return ++calls < 8 ? 200.0 - 10 * calls : 100.0; };
  std::vector<Task> tasks;
  tasks.push_back(task_of("a", log));
  Document document;
  run_experiment(std::move(tasks), plan, Timer{}, document);
  EXPECT_GE(calls, 12);
  EXPECT_LE(calls, 14);
}

TEST(Summary, WithoutAnUndisturbedSampleAllAreUsedAndItIsSaid) {
  Cell cell;
  cell.label = "a";
  for (const double value : {1.0, 2.0, 3.0}) {
    Sample sample;
    sample.value = value;
    sample.causes = {"steal"};
    cell.samples.push_back(sample);
  }
  summarise(cell);
  EXPECT_EQ(cell.summary.median, 2);
  EXPECT_EQ(cell.summary.rejected, 3u);
  ASSERT_EQ(cell.flags.size(), 1u);
  EXPECT_EQ(cell.flags.front().severity, Severity::invalid);
}

}  // namespace
}  // namespace cxltier::bench
