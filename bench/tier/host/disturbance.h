// SPDX-License-Identifier: Apache-2.0
//
// What the host did while a sample was taken: the causes for which a sample may be rejected.
//
//   DisturbanceWatch watch(clock);   ... measure ...   Disturbance d = watch.end();
//
// A value that the host does not show is negative, "not visible"; it is never taken for 0.
#pragma once

#include <cstdint>

#include "bench/tier/kernel/timer.h"

namespace cxltier::bench {

struct Disturbance {
  double wall_s = 0;
  double steal_share = -1;    // of the time of all CPUs, what the hypervisor took
  double waiting_share = -1;  // of the wall time, how long measuring threads waited for a CPU (sum)
  double pressure_share = -1;  // of the wall time, when any task of the host waited for a CPU
  double involuntary = -1;     // context switches forced on our threads
  double migrations = -1;      // 1: the measuring thread ended on another CPU
  double clock_ratio = -1;     // arithmetic loop before over after; below 1: the clock fell
};

// Which threads measure: where a team does, the calling thread only sleeps, and that it is woken a
// few milliseconds late harms nothing.
enum class Measurer : std::uint8_t { caller, team };

class DisturbanceWatch {
 public:
  DisturbanceWatch(const Timer& timer, Measurer measurer);
  [[nodiscard]] Disturbance end() const;

 private:
  struct Counters {
    double steal_ticks = -1;
    double all_ticks = -1;
    double waiting_ns = -1;
    double pressure_us = -1;
    double involuntary = -1;
    int cpu = -1;
  };
  [[nodiscard]] Counters read() const;

  const Timer& timer_;
  Measurer measurer_;
  double start_s_ = 0;
  double loop_ns_ = 0;
  Counters start_;
};

}  // namespace cxltier::bench
