// SPDX-License-Identifier: Apache-2.0
//
// Rounds, their order, and what becomes of their samples.
#include "bench/tier/experiment.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "bench/tier/host/processors.h"
#include "bench/tier/kernel/random.h"

namespace cxltier::bench {
namespace {

constexpr double warm_up_most_s = 4;
constexpr std::size_t warm_up_window = 5;
constexpr double warm_up_slope = 0.02;  // over the window

class Rounds {
 public:
  Rounds(std::vector<Task>& tasks, const Plan& plan, const Timer& timer)
      : tasks_(tasks), plan_(plan), timer_(timer), random_(plan.seed) {}

  ExperimentOutcome run() {
    warm_up();
    for (int round = 0; round < plan_.rounds; ++round) {
      if (round >= plan_.rounds_least && now_s() > plan_.deadline_s) break;
      const double drift = run_round(round);
      ++outcome_.rounds;
      if (drift <= drift_invalid) continue;
      mark_drifted();
      if (now_s() > plan_.deadline_s || outcome_.rounds_repeated >= plan_.rounds) continue;
      ++outcome_.rounds_repeated;
      if (run_round(round) > drift_invalid) mark_drifted();
    }
    return outcome_;
  }

 private:
  void warm_up() {
    if (!plan_.warm_up) return;
    const double start = now_s();
    std::vector<double> values;
    while (now_s() - start < warm_up_most_s && !is_warm(values, warm_up_window, warm_up_slope)) {
      values.push_back(plan_.warm_up());
    }
    outcome_.warm_up_s = now_s() - start;
  }

  // Returns by how much the sentinels differed.
  double run_round(int round) {
    std::vector<std::size_t> order(tasks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(std::span<std::size_t>(order), random_);
    const double before = plan_.sentinel ? plan_.sentinel() : 1;
    for (std::size_t done = 0; done < order.size(); ++done) {
      Task& task = tasks_[order[done]];
      if (plan_.progress) {
        const double share =
            (round + static_cast<double>(done) / static_cast<double>(order.size())) / plan_.rounds;
        plan_.progress(share, task.cell.mode);
      }
      take_sample(task);
    }
    const double after = plan_.sentinel ? plan_.sentinel() : 1;
    const double drift = std::max(before, after) / std::max(std::min(before, after), 1e-9) - 1;
    outcome_.drift_most = std::max(outcome_.drift_most, drift);
    return drift;
  }

  void take_sample(Task& task) {
    if (task.cpu >= 0) pin_thread(static_cast<unsigned>(task.cpu));
    const DisturbanceWatch watch(timer_, task.measurer);
    const Measured measured = task.measure();
    Sample sample;
    sample.host = watch.end();
    sample.value = measured.value;
    sample.companion = measured.companion;
    DisturbanceLimits limits = plan_.limits;
    limits.involuntary_per_s += task.switches_own_per_s;
    sample.causes = plan_.judge(sample.host, limits);
    task.cell.samples.push_back(std::move(sample));
  }

  void mark_drifted() {
    for (Task& task : tasks_) task.cell.samples.back().causes.emplace_back("drift");
  }

  std::vector<Task>& tasks_;
  const Plan& plan_;
  const Timer& timer_;
  Random random_;
  ExperimentOutcome outcome_;
};

}  // namespace

ExperimentOutcome run_experiment(std::vector<Task> tasks, const Plan& plan, const Timer& timer,
                                 Document& document) {
  if (tasks.empty()) return {};
  const ExperimentOutcome outcome = Rounds(tasks, plan, timer).run();
  for (Task& task : tasks) {
    if (task.finish) task.finish(task.cell);
    summarise(task.cell);
    document.cells.push_back(std::move(task.cell));
  }
  document.settings.rounds = outcome.rounds;
  for (Flag& flag : check_drift("the run", outcome.drift_most)) {
    if (outcome.rounds_repeated > 0) {
      flag.text += "; " + std::to_string(outcome.rounds_repeated) + " rounds were repeated";
    }
    // The samples of such rounds were rejected one by one; the run as a whole is only doubtful.
    flag.severity = Severity::suspect;
    document.flags.push_back(std::move(flag));
  }
  return outcome;
}

}  // namespace cxltier::bench
