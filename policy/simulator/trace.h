// SPDX-License-Identifier: Apache-2.0
//
// Heat traces: how many pages of a process were how hot, over time.  Text, a few hundred bytes for
// each look; version 2:
//
//   cxltier-trace 2
//   program redis-server
//   page_size 4096
//   stall_permille 350 50      share of time that waits for memory, and its uncertainty; optional
//   bandwidth_mbps 12000       what it draws with all memory fast; optional
//   tiers 2
//   frame 1000                 ms since the start; then, once each:
//   pages 24000 8000           resident pages by tier
//   moved 120                  pages moved since the last frame
//   window 20000               us in which access bits were open; optional.  Frames of several
//                              lengths tell the hot apart as well as the cold
//   heat 0:20000 90:3000 99:9000       pages by heat_bin_of (policy/rate.h), others 0
//   frame 2000
//   ...
//   end 2                      frames; a trace without it was cut short
//
// Lines are ordered as shown; unknown words before the first frame are skipped, so that later
// versions may add some.  A rate counts touches of a page, and not the accesses that each touch is
// made of: see advice.h for what follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rate.h"
#include "policy/simulator/machine_model.h"
#include "policy/simulator/workload.h"

namespace cxltier::simulator {

inline constexpr std::uint32_t trace_version = 2;
inline constexpr std::size_t trace_frames_max = 1'000'000;

struct TraceFrame {
  std::uint64_t time_ms = 0;
  PerTier<std::uint64_t> pages{};
  std::uint64_t moved_pages = 0;
  std::uint64_t window_us = 0;  // 0: not known, the same in all frames
  std::array<std::uint64_t, heat_bins> heat{};
};

struct HeatTrace {
  std::string program;
  std::uint64_t page_size = 4096;
  std::size_t tier_count = 1;
  std::optional<double> stall_share;  // of time; with its uncertainty
  double stall_uncertainty = 0;
  std::optional<double> bandwidth_gbps;
  std::vector<TraceFrame> frames;
};

[[nodiscard]] std::string write_trace(const HeatTrace& trace);

struct TraceReading {
  std::optional<HeatTrace> trace;
  std::string fault;  // "line 7: ...", if there is no trace
};
// Distrusts every line.
[[nodiscard]] TraceReading read_trace(std::string_view text);

// Touches per page and second, in the middle of a bin, and at its edges.
struct BinRate {
  double middle = 0;
  double low = 0;
  double high = 0;
};
[[nodiscard]] BinRate rate_of_bin(std::size_t bin);

// A program with this heat: the hottest leaf first, a phase for each frame (of long traces: for
// runs of frames, at most 200).  Empty if no frame has heat.
[[nodiscard]] std::optional<Workload> workload_of_trace(const HeatTrace& trace,
                                                        const MachineModel& machine, double ratio);

}  // namespace cxltier::simulator
