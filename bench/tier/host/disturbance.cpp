// SPDX-License-Identifier: Apache-2.0
//
// /proc/stat, /proc/pressure/cpu, schedstat of each of our threads, getrusage(2).
#include "bench/tier/host/disturbance.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace cxltier::bench {
namespace {

void read_stat(double& steal, double& all) {
  std::ifstream stat("/proc/stat");
  std::string word;
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (!(stat >> word) || word != "cpu") return;
  for (double& tick : ticks) {
    if (!(stat >> tick)) return;
  }
  steal = ticks[7];
  all = 0;
  for (const double tick : ticks) all += tick;
}

// The second field of a thread's schedstat: nanoseconds in which it could have run and did not.
double read_waiting(Measurer measurer) {
  const std::string caller = std::to_string(::gettid());
  double sum = 0;
  bool any = false;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (measurer == Measurer::team && task.path().filename() == caller) continue;
    std::ifstream schedstat(task.path() / "schedstat");
    double ran = 0;
    double waited = 0;
    if (!(schedstat >> ran >> waited)) continue;
    sum += waited;
    any = true;
  }
  return any ? sum : -1;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123"
double read_pressure() {
  std::ifstream pressure("/proc/pressure/cpu");
  std::string word;
  while (pressure >> word) {
    if (word.starts_with("total=")) return std::stod(word.substr(6));
  }
  return -1;
}

double share(double start, double end, double whole) {
  return start < 0 || end < start || whole <= 0 ? -1 : (end - start) / whole;
}

}  // namespace

DisturbanceWatch::Counters DisturbanceWatch::read() const {
  Counters counters;
  read_stat(counters.steal_ticks, counters.all_ticks);
  counters.waiting_ns = read_waiting(measurer_);
  counters.pressure_us = read_pressure();
  counters.cpu = ::sched_getcpu();
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    counters.involuntary = static_cast<double>(usage.ru_nivcsw);
  }
  return counters;
}

DisturbanceWatch::DisturbanceWatch(const Timer& timer, Measurer measurer)
    : timer_(timer), measurer_(measurer), loop_ns_(arithmetic_loop_ns(timer)), start_(read()) {
  start_s_ = now_s();
}

Disturbance DisturbanceWatch::end() const {
  Disturbance result;
  result.wall_s = now_s() - start_s_;
  const Counters last = read();
  const double loop_ns = arithmetic_loop_ns(timer_);
  result.steal_share =
      share(start_.steal_ticks, last.steal_ticks, last.all_ticks - start_.all_ticks);
  result.waiting_share = share(start_.waiting_ns, last.waiting_ns, result.wall_s * 1e9);
  result.pressure_share = share(start_.pressure_us, last.pressure_us, result.wall_s * 1e6);
  result.involuntary = share(start_.involuntary, last.involuntary, 1);
  if (start_.cpu >= 0 && last.cpu >= 0) result.migrations = start_.cpu == last.cpu ? 0 : 1;
  if (loop_ns > 0) result.clock_ratio = loop_ns_ / loop_ns;
  return result;
}

}  // namespace cxltier::bench
