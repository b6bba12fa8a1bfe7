// SPDX-License-Identifier: Apache-2.0
//
// The rules, one function each, and their words.
#include "bench/tier/verdict/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace cxltier::bench {
namespace {

constexpr double floor_noise = 0.9;
constexpr double order_invalid_share = 0.98;
constexpr double order_suspect_share = 1.05;
constexpr double placement_least = 0.99;
constexpr double huge_least = 0.90;
constexpr double buffer_caches = 4;
constexpr double bandwidth_fall = 0.05;
constexpr double firmware_off = 0.30;
// Linux prints HMAT latencies of some CXL devices in picoseconds; no memory is this slow.
constexpr double firmware_unit_fault_ns = 5000;
constexpr double timer_error_most = 0.01;

Flag flag(std::string_view rule, Severity severity, std::string_view subject) {
  return {std::string(rule), severity, std::string(subject), 0, 0, {}};
}

Flag measured(Flag flag, double value, double bound, std::string text) {
  flag.value = value;
  flag.bound = bound;
  flag.text = std::move(text);
  return flag;
}

std::optional<double> least_local(std::span<const NodeLatency> nodes) {
  std::optional<double> least;
  for (const NodeLatency& node : nodes) {
    if (node.distance != Distance::local_dram || node.latency_ns <= 0) continue;
    least = std::min(least.value_or(node.latency_ns), node.latency_ns);
  }
  return least;
}

bool must_be_slower(Distance distance) {
  return distance != Distance::local_dram && distance != Distance::unordered;
}

const char* word_of(Distance distance) {
  if (distance == Distance::cxl) return "CXL memory";
  return distance == Distance::persistent ? "persistent memory" : "another socket's DRAM";
}

}  // namespace

const char* name_of(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::suspect:
      return "suspect";
    case Severity::invalid:
      return "invalid";
  }
  return "?";
}

Severity worst_of(std::span<const Flag> flags) noexcept {
  Severity worst = Severity::note;
  for (const Flag& flag : flags) worst = std::max(worst, flag.severity);
  return worst;
}

Flags check_latency_floor(std::string_view subject, double latency_ns, double llc_latency_ns) {
  const double floor = llc_latency_ns > 0 ? llc_latency_ns : llc_latency_least_ns;
  const double least = llc_latency_ns > 0 ? floor * floor_noise : floor;
  if (latency_ns <= 0 || latency_ns >= least) return {};
  const char* what =
      llc_latency_ns > 0 ? "the last-level cache of this host" : "any server's last-level cache";
  return {measured(flag("latency_floor", Severity::invalid, subject), latency_ns, floor,
                   fmt::format("{:.1f} ns is below {} ({:.1f} ns): the loads hit a cache or were "
                               "prefetched",
                               latency_ns, what, floor))};
}

Flags check_latency_order(std::span<const NodeLatency> nodes, BufferAgainstCaches buffer) {
  Flags flags;
  const std::optional<double> local = least_local(nodes);
  if (!local) return flags;
  for (const NodeLatency& node : nodes) {
    if (!must_be_slower(node.distance) || node.latency_ns <= 0) continue;
    const double share = node.latency_ns / *local;
    if (share >= order_suspect_share) continue;
    const bool below = share < order_invalid_share;
    Severity severity = below ? Severity::invalid : Severity::suspect;
    if (buffer == BufferAgainstCaches::smaller) severity = Severity::note;
    flags.push_back(measured(
        flag("latency_order", severity, node.subject), node.latency_ns, *local,
        fmt::format("{:.1f} ns for {} is {} local DRAM ({:.1f} ns): {}", node.latency_ns,
                    word_of(node.distance), below ? "below" : "hardly above", *local,
                    buffer == BufferAgainstCaches::smaller
                        ? "the buffer is smaller than all caches together"
                        : "the thread or the pages were not where they were thought to be")));
  }
  return flags;
}

Flags check_bandwidth_peak(std::string_view subject, double gbps, double peak_gbps,
                           double firmware_gbps) {
  if (peak_gbps > 0 && gbps > peak_gbps) {
    return {measured(flag("bandwidth_peak", Severity::invalid, subject), gbps, peak_gbps,
                     fmt::format("{:.1f} GB/s is above the theoretical {:.1f}: caches served it",
                                 gbps, peak_gbps))};
  }
  if (peak_gbps <= 0 && firmware_gbps > 0 && gbps > firmware_gbps) {
    return {measured(
        flag("bandwidth_peak", Severity::suspect, subject), gbps, firmware_gbps,
        fmt::format("{:.1f} GB/s is above what firmware says ({:.1f})", gbps, firmware_gbps))};
  }
  return {};
}

Flags check_little(std::string_view subject, double gbps, double latency_ns, std::size_t cores) {
  const double lines = gbps * latency_ns / 64;
  const double most = lines_per_core_most * static_cast<double>(cores);
  if (cores == 0 || lines <= most) return {};
  return {measured(flag("little", Severity::invalid, subject), lines, most,
                   fmt::format("{:.1f} GB/s at {:.0f} ns means {:.0f} lines under way; {} cores "
                               "can have {:.0f}",
                               gbps, latency_ns, lines, cores, most))};
}

Flags check_firmware_latency(std::string_view subject, double measured_ns, double firmware_ns) {
  if (measured_ns <= 0 || firmware_ns <= 0) return {};
  const bool unit_fault = firmware_ns > firmware_unit_fault_ns;
  if (!unit_fault && std::abs(measured_ns / firmware_ns - 1) <= firmware_off) return {};
  const std::string why =
      unit_fault ? "no memory is that slow: a fault of units in the kernel or the firmware"
                 : "firmware's tables do not describe this machine";
  return {measured(
      flag("firmware", Severity::suspect, subject), measured_ns, firmware_ns,
      fmt::format("measured {:.0f} ns, firmware says {:.0f}: {}", measured_ns, firmware_ns, why))};
}

Flags check_placement(std::string_view subject, const PlacementReport& report, PageKind asked) {
  Flags flags;
  if (!report.located) {
    flags.push_back(measured(flag("placement", Severity::suspect, subject), 0, placement_least,
                             "where the pages are could not be asked (move_pages is refused)"));
  } else if (report.share_as_asked < placement_least) {
    flags.push_back(measured(
        flag("placement", Severity::invalid, subject), report.share_as_asked, placement_least,
        fmt::format("{:.1f} % of the pages are on the asked node{}", 100 * report.share_as_asked,
                    report.bind_error != 0 ? "; the policy was refused" : "")));
  }
  const bool wants_huge = asked != PageKind::small;
  const double share = wants_huge ? report.huge_share : 1 - report.huge_share;
  if (!report.huge_known) {
    flags.push_back(measured(flag("page_size", Severity::suspect, subject), 0, huge_least,
                             "the size of the pages could not be looked up (smaps)"));
  } else if (share < huge_least) {
    flags.push_back(measured(flag("page_size", Severity::invalid, subject), share, huge_least,
                             fmt::format("pages were asked to be {} and {:.0f} % of the bytes are",
                                         name_of(asked), 100 * share)));
  }
  return flags;
}

Flags check_buffer_size(std::string_view subject, std::uint64_t bytes, std::uint64_t llc_bytes) {
  const double least = buffer_caches * static_cast<double>(llc_bytes);
  const auto size = static_cast<double>(bytes);
  if (llc_bytes == 0 || size >= least) return {};
  return {measured(flag("buffer_size", Severity::suspect, subject), size, least,
                   fmt::format("the buffer of {:.0f} MiB is below 4 x the last-level cache "
                               "({:.0f} MiB): some loads hit it",
                               size / (1 << 20), least / (1 << 20)))};
}

Flags check_timer(double calibration_error) {
  if (calibration_error <= timer_error_most) return {};
  return {measured(flag("timer", Severity::suspect, "timer"), calibration_error, timer_error_most,
                   fmt::format("two calibrations of the time stamp differ by {:.2f} %",
                               100 * calibration_error))};
}

Flags check_drift(std::string_view subject, double drift) {
  if (drift <= drift_suspect) return {};
  const Severity severity = drift > drift_invalid ? Severity::invalid : Severity::suspect;
  return {measured(flag("drift", severity, subject), drift, drift_suspect,
                   fmt::format("the sentinel before and after differs by {:.1f} %", 100 * drift))};
}

Flags check_curve(std::string_view subject, std::span<const CurvePoint> points, double noise) {
  Flags flags;
  double latency_most = 0;
  double gbps_most = 0;
  bool fell = false;
  bool dipped = false;
  for (const CurvePoint& point : points) {
    const bool rising = point.gbps > gbps_most;
    if (rising && !dipped && point.latency_ns < latency_most * (1 - noise)) {
      dipped = true;
      flags.push_back(measured(flag("curve", Severity::suspect, subject), point.latency_ns,
                               latency_most,
                               fmt::format("latency falls from {:.0f} to {:.0f} ns as the load "
                                           "rises to {:.1f} GB/s",
                                           latency_most, point.latency_ns, point.gbps)));
    }
    if (!fell && point.gbps < gbps_most * (1 - bandwidth_fall)) {
      fell = true;
      flags.push_back(measured(flag("curve", Severity::note, subject), point.gbps, gbps_most,
                               fmt::format("bandwidth falls from {:.1f} to {:.1f} GB/s past the "
                                           "knee",
                                           gbps_most, point.gbps)));
    }
    latency_most = std::max(latency_most, point.latency_ns);
    gbps_most = std::max(gbps_most, point.gbps);
  }
  return flags;
}

std::vector<std::string> causes_of(const Disturbance& seen, const DisturbanceLimits& limits) {
  std::vector<std::string> causes;
  if (seen.steal_share > limits.steal_share) causes.emplace_back("steal");
  if (seen.waiting_share > limits.waiting_share) causes.emplace_back("waited_for_cpu");
  if (seen.pressure_share > limits.pressure_share) causes.emplace_back("cpu_pressure");
  if (seen.involuntary > limits.involuntary_per_s * std::max(seen.wall_s, 0.02)) {
    causes.emplace_back("context_switches");
  }
  if (seen.migrations > 0) causes.emplace_back("migrated");
  if (seen.clock_ratio > 0 && std::abs(seen.clock_ratio - 1) > limits.clock_change) {
    causes.emplace_back("clock_changed");
  }
  return causes;
}

Flags check_samples(std::string_view subject, std::size_t kept, std::size_t rejected) {
  if (rejected == 0 || kept > rejected) return {};
  const double all = static_cast<double>(kept + rejected);
  return {measured(flag("samples", Severity::suspect, subject), static_cast<double>(rejected),
                   all / 2,
                   fmt::format("{} of {} samples rejected by cause: the host is busy", rejected,
                               kept + rejected))};
}

}  // namespace cxltier::bench
