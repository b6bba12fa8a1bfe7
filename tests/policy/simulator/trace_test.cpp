// SPDX-License-Identifier: Apache-2.0
//
// Traces survive being written and read, and nothing that is not a trace is taken for one.
#include "policy/simulator/trace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/simulator/random.h"

namespace cxltier::simulator {
namespace {

HeatTrace sample_trace() {
  HeatTrace trace;
  trace.program = "redis-server";
  trace.tier_count = 2;
  trace.stall_share = 0.35;
  trace.stall_uncertainty = 0.05;
  trace.bandwidth_gbps = 12;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    TraceFrame frame{.time_ms = i * 1000, .pages = {100, 200}, .moved_pages = i};
    frame.heat[0] = 200;
    frame.heat[40] = 60;
    frame.heat[63] = 40 + i;
    trace.frames.push_back(frame);
  }
  return trace;
}

TEST(Trace, SurvivesWritingAndReading) {
  const HeatTrace trace = sample_trace();
  const TraceReading reading = read_trace(write_trace(trace));
  ASSERT_TRUE(reading.trace.has_value()) << reading.fault;
  EXPECT_EQ(write_trace(*reading.trace), write_trace(trace));
  EXPECT_EQ(reading.trace->program, "redis-server");
  EXPECT_EQ(reading.trace->frames[2].heat[63], 43u);
  EXPECT_EQ(reading.trace->frames[1].moved_pages, 2u);
  EXPECT_DOUBLE_EQ(*reading.trace->stall_share, 0.35);
  EXPECT_DOUBLE_EQ(*reading.trace->bandwidth_gbps, 12);
}

TEST(Trace, IsSmall) { EXPECT_LT(write_trace(sample_trace()).size() / 3, 200u); }

TEST(Trace, CutShortAtAnyByteIsRefusedOrWhole) {
  const std::string text = write_trace(sample_trace());
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_FALSE(read_trace(std::string_view(text).substr(0, length)).trace.has_value()) << length;
  }
}

TEST(Trace, FaultsNameTheLine) {
  EXPECT_EQ(read_trace("hello\n").fault,
            "line 1: not a trace: it does not begin with 'cxltier-trace'");
  EXPECT_EQ(read_trace("cxltier-trace 3\n").fault,
            "line 1: of a version that this program does not know");
  EXPECT_EQ(read_trace("cxltier-trace 2\ntiers 9\n").fault, "line 2: tiers must be 1 to 8");
  EXPECT_EQ(read_trace("cxltier-trace 2\ntiers 1\nframe 5\nheat 128:1\n").fault,
            "line 4: heat is BIN:PAGES, BIN below 128");
  EXPECT_EQ(read_trace("cxltier-trace 2\nframe 5\nframe 5\n").fault, "line 3: time goes back");
  EXPECT_EQ(read_trace("cxltier-trace 2\nframe 5\nend 2\n").fault, "line 3: frames are missing");
}

TEST(Trace, UnknownWordsOfTheHeadAreSkipped) {
  EXPECT_TRUE(read_trace("cxltier-trace 2\ncolour blue\nframe 5\nend 1\n").trace.has_value());
}

TEST(Trace, RandomBytesNeverCrash) {
  const std::string text = write_trace(sample_trace());
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::string damaged = text;
    Random random(seed, 9);
    for (int i = 0; i < 4; ++i) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.bits());
    }
    const TraceReading reading = read_trace(damaged);
    EXPECT_NE(reading.trace.has_value(), !reading.fault.empty()) << seed;
  }
}

TEST(Trace, BinsAreRates) {
  for (std::size_t bin = 1; bin < heat_bins; ++bin) {
    const BinRate rate = rate_of_bin(bin);
    EXPECT_LT(rate.low, rate.middle) << bin;
    EXPECT_LT(rate.middle, rate.high) << bin;
    EXPECT_LE(rate.high, 1.3 * rate.low) << bin;
  }
  // Half of the pages in a window of a second: ln 2 touches of each per second.
  const BinRate half = rate_of_bin(heat_bin_of(rate_of_bits(500, 1000, seconds(1))));
  EXPECT_LE(half.low, std::log(2.0));
  EXPECT_GE(half.high, std::log(2.0));
}

TEST(Trace, CanBeReplayed) {
  const MachineModel& machine = *find_machine("spr-cxl");
  HeatTrace trace = sample_trace();
  for (TraceFrame& frame : trace.frames) {
    for (std::uint64_t& pages : frame.heat) pages *= 10'000;
  }
  const std::optional<Workload> workload = workload_of_trace(trace, machine, 4);
  ASSERT_TRUE(workload.has_value());
  EXPECT_TRUE(is_valid(*workload, machine));
  EXPECT_EQ(workload->phases.size(), 3u);
  EXPECT_GT(workload->popularity[0].front(), workload->popularity[0].back());
  EXPECT_FALSE(workload_of_trace(HeatTrace{}, machine, 4).has_value());
}

}  // namespace
}  // namespace cxltier::simulator
