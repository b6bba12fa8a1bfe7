// SPDX-License-Identifier: Apache-2.0
//
// Each rule on both sides of its bound, and the impossible points that were really published.
#include "bench/tier/verdict/validity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/tier/host/machine_record.h"
#include "bench/tier/reference/reference.h"
#include "bench/tier/verdict/curve_reading.h"

namespace cxltier::bench {
namespace {

bool has(const Flags& flags, const std::string& rule, Severity severity,
         const std::string& subject_part = "") {
  return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) {
    return flag.rule == rule && flag.severity == severity &&
           flag.subject.find(subject_part) != std::string::npos;
  });
}

TEST(Validity, LatencyBelowTheLastLevelCache) {
  EXPECT_TRUE(has(check_latency_floor("n", 50, 60), "latency_floor", Severity::invalid));
  EXPECT_TRUE(check_latency_floor("n", 55, 60).empty());
  EXPECT_TRUE(has(check_latency_floor("n", 19.9, 0), "latency_floor", Severity::invalid));
  EXPECT_TRUE(check_latency_floor("n", 20, 0).empty());
}

Flags order_of(Distance distance, double latency_ns,
               BufferAgainstCaches buffer = BufferAgainstCaches::larger) {
  const std::vector<NodeLatency> nodes = {{"local", Distance::local_dram, 100},
                                          {"other", distance, latency_ns}};
  return check_latency_order(nodes, buffer);
}

TEST(Validity, RemoteAndCxlMustBeSlowerThanLocal) {
  for (const Distance distance : {Distance::remote_dram, Distance::cxl}) {
    EXPECT_TRUE(has(order_of(distance, 97), "latency_order", Severity::invalid));
    EXPECT_TRUE(has(order_of(distance, 102), "latency_order", Severity::suspect));
    EXPECT_TRUE(order_of(distance, 105.1).empty());
    EXPECT_TRUE(
        has(order_of(distance, 60, BufferAgainstCaches::smaller), "latency_order", Severity::note));
  }
}

// HBM may answer sooner or later than DRAM: no order can be broken.
TEST(Validity, MemoryOfUnknownOrderIsNotJudged) {
  EXPECT_TRUE(order_of(Distance::unordered, 60).empty());
  EXPECT_TRUE(has(order_of(Distance::persistent, 60), "latency_order", Severity::invalid));
}

TEST(Validity, WithoutLocalDramThereIsNoOrder) {
  const std::vector<NodeLatency> nodes = {{"cxl", Distance::cxl, 30}};
  EXPECT_TRUE(check_latency_order(nodes, BufferAgainstCaches::larger).empty());
}

TEST(Validity, BandwidthAboveThePeak) {
  EXPECT_TRUE(has(check_bandwidth_peak("n", 31, 30, 0), "bandwidth_peak", Severity::invalid));
  EXPECT_TRUE(check_bandwidth_peak("n", 29, 30, 20).empty());  // a given peak beats firmware's
  EXPECT_TRUE(has(check_bandwidth_peak("n", 21, 0, 20), "bandwidth_peak", Severity::suspect));
  EXPECT_TRUE(check_bandwidth_peak("n", 1000, 0, 0).empty());
}

TEST(Validity, LittlesLaw) {
  // 64 GB/s at 100 ns are 100 lines under way.
  EXPECT_TRUE(check_little("n", 64, 100, 2).empty());
  EXPECT_TRUE(has(check_little("n", 64, 100, 1), "little", Severity::invalid));
}

TEST(Validity, FirmwareThatDoesNotDescribeTheMachine) {
  EXPECT_TRUE(check_firmware_latency("n", 120, 100).empty());
  EXPECT_TRUE(has(check_firmware_latency("n", 140, 100), "firmware", Severity::suspect));
  const Flags units = check_firmware_latency("n", 17'000, 17'210);
  ASSERT_TRUE(has(units, "firmware", Severity::suspect));
  EXPECT_NE(units.front().text.find("units"), std::string::npos);
  EXPECT_TRUE(check_firmware_latency("n", 140, 0).empty());
}

TEST(Validity, PlacementAndPageSize) {
  PlacementReport report;
  report.located = true;
  report.huge_known = true;
  report.huge_share = 1;
  EXPECT_TRUE(check_placement("n", report, PageKind::thp).empty());
  EXPECT_TRUE(has(check_placement("n", report, PageKind::small), "page_size", Severity::invalid));
  report.share_as_asked = 0.98;
  EXPECT_TRUE(has(check_placement("n", report, PageKind::thp), "placement", Severity::invalid));
  report.huge_share = 0.5;
  EXPECT_TRUE(has(check_placement("n", report, PageKind::thp), "page_size", Severity::invalid));
  report.located = false;
  report.huge_known = false;
  const Flags unknown = check_placement("n", report, PageKind::thp);
  EXPECT_TRUE(has(unknown, "placement", Severity::suspect));
  EXPECT_TRUE(has(unknown, "page_size", Severity::suspect));
}

TEST(Validity, BufferDriftTimer) {
  EXPECT_TRUE(has(check_buffer_size("n", 100, 32), "buffer_size", Severity::suspect));
  EXPECT_TRUE(check_buffer_size("n", 128, 32).empty());
  EXPECT_TRUE(check_buffer_size("n", 1, 0).empty());
  EXPECT_TRUE(check_drift("n", 0.05).empty());
  EXPECT_TRUE(has(check_drift("n", 0.06), "drift", Severity::suspect));
  EXPECT_TRUE(has(check_drift("n", 0.11), "drift", Severity::invalid));
  EXPECT_TRUE(check_timer(0.005).empty());
  EXPECT_TRUE(has(check_timer(0.02), "timer", Severity::suspect));
}

TEST(Validity, CurvesThatBendTheWrongWay) {
  const std::vector<CurvePoint> good = {{500, 100, 5}, {100, 110, 20}, {0, 200, 40}};
  EXPECT_TRUE(check_curve("c", good, 0.05).empty());
  const std::vector<CurvePoint> falls = {{500, 100, 5}, {100, 80, 20}, {0, 200, 40}};
  EXPECT_TRUE(has(check_curve("c", falls, 0.05), "curve", Severity::suspect));
  EXPECT_TRUE(check_curve("c", falls, 0.25).empty());  // within the noise
  const std::vector<CurvePoint> past_knee = {{500, 100, 5}, {100, 150, 40}, {0, 300, 35}};
  EXPECT_TRUE(has(check_curve("c", past_knee, 0.05), "curve", Severity::note));
}

TEST(CurveReading, IsBetweenThePointsAndFlatBelowTheFirst) {
  const std::vector<CurvePoint> points = {{500, 100, 4}, {100, 120, 20}, {0, 300, 40}};
  EXPECT_EQ(latency_at(points, 1), 100);
  EXPECT_EQ(latency_at(points, 12), 110);
  EXPECT_EQ(latency_at(points, 30), 210);
  EXPECT_EQ(latency_at(points, 41), std::nullopt);
  EXPECT_EQ(reading_of(points),
            "100 ns at 10 % of 40.0 GB/s, 110 at 30 %, 156 at 60 %, 210 at 75 %, 264 at 90 %");
  EXPECT_EQ(reading_of(std::vector<CurvePoint>{{0, 300, 40}}), "");
}

// Past the knee the same rate comes again with a higher latency: the first crossing counts.
TEST(CurveReading, TakesTheFirstCrossing) {
  const std::vector<CurvePoint> points = {{500, 100, 10}, {100, 200, 40}, {0, 900, 30}};
  EXPECT_EQ(latency_at(points, 25), 150);
}

TEST(Validity, SamplesAreRejectedByCauseAndByNothingElse) {
  const DisturbanceLimits limits;
  Disturbance quiet;
  quiet.wall_s = 0.05;
  EXPECT_TRUE(causes_of(quiet, limits).empty());  // what is not visible is no cause
  Disturbance seen = quiet;
  seen.steal_share = 0.03;
  seen.waiting_share = 0.03;
  seen.pressure_share = 0.3;
  seen.involuntary = 11;
  seen.migrations = 1;
  seen.clock_ratio = 0.9;
  const std::vector<std::string> all = {
      "steal", "waited_for_cpu", "cpu_pressure", "context_switches", "migrated", "clock_changed"};
  EXPECT_EQ(causes_of(seen, limits), all);
  EXPECT_TRUE(check_samples("n", 6, 5).empty());
  EXPECT_TRUE(has(check_samples("n", 5, 5), "samples", Severity::suspect));
}

// --- what was published ---

TEST(PublishedPoints, CxlAtSixteenNanosecondsIsImpossible) {
  const Document document = read_reference("intel-snc4-eurosys24");
  EXPECT_TRUE(has(document.flags, "latency_floor", Severity::invalid, "log_d0_c1_w0_r0"));
  EXPECT_TRUE(has(document.flags, "latency_order", Severity::invalid, "log_d0_c1_w0_r0"));
}

TEST(PublishedPoints, AnotherSocketBelowTheOwnIsImpossible) {
  const Document document = read_reference("intel-snc4-eurosys24");
  EXPECT_TRUE(has(document.flags, "latency_order", Severity::invalid, "-c191, least"));
  EXPECT_TRUE(has(document.flags, "latency_order", Severity::invalid, "-c191, greatest"));
}

// The thread that chased stayed on its own socket: the latency "across" is the local one.
TEST(PublishedPoints, AnotherSocketAtTheOwnLatencyIsDoubted) {
  const Document document = read_reference("intel-snc4-eurosys24");
  EXPECT_TRUE(has(document.flags, "latency_order", Severity::suspect, "remote idle"));
}

TEST(PublishedPoints, SoundTiersAreNotFlagged) {
  const Document document = read_reference("intel-snc4-eurosys24");
  for (const Flag& flag : document.flags) {
    EXPECT_NE(flag.subject, "local idle") << flag.text;
    EXPECT_NE(flag.subject, "cxl idle") << flag.text;
  }
  std::size_t curve_points = 0;
  for (const Cell& cell : document.cells) {
    curve_points += cell.mode == "curve";
    EXPECT_FALSE(!cell.flags.empty() && worst_of(cell.flags) == Severity::invalid) << cell.label;
  }
  EXPECT_GT(curve_points, 2000u);  // 136 curves
}

TEST(Emulation, IsToldFromAVirtualMachine) {
  EXPECT_TRUE(is_emulated("QEMU", "QEMU TCG CPU version 2.5+", "fpu sse2 hypervisor"));
  EXPECT_TRUE(is_emulated("QEMU", "AMD EPYC", "fpu sse2"));
  EXPECT_FALSE(is_emulated("QEMU", "AMD EPYC", "fpu sse2 hypervisor"));
  EXPECT_FALSE(is_emulated("Dell Inc.", "Intel(R) Xeon(R)", "fpu sse2"));
}

}  // namespace
}  // namespace cxltier::bench
