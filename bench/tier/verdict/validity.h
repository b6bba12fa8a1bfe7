// SPDX-License-Identifier: Apache-2.0
//
// What cannot be true, what should not be believed, and why a sample does not count.
//
// Public sets of latency curves hold CXL memory at 16 ns and another socket's DRAM below the own: a
// chase that the prefetcher ran ahead of, and a thread that stayed on the wrong socket.  Nobody
// looked.  So every figure, ours and those published, goes through the same rules:
//
//   rule             invalid                                  suspect
//   latency_floor    below the last-level cache of the host
//   latency_order    remote or CXL below local DRAM (-2 %)    not 5 % above it
//   bandwidth_peak   above channels x rate, or the link's     above what firmware says
//   little           more lines under way than cores have
//   placement        under 99 % of the pages on their node    could not be looked up
//   page_size        granted for under 90 % of the bytes      could not be looked up
//   buffer_size                                               under 4 x the last-level cache
//   curve                                                     latency falls as load rises
//   drift            sentinels differ by more than 10 %       by more than 5 %
//   samples          none was undisturbed                     half of them rejected, or more
//   firmware                                                  30 % away; a fault of units
//   timer                                                     calibrations differ by 1 %
//
// A flag says what it found and what the bound was; nothing is smoothed or dropped.  Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tier/host/buffer.h"
#include "bench/tier/host/disturbance.h"

namespace cxltier::bench {

enum class Severity : std::uint8_t { note, suspect, invalid };
[[nodiscard]] const char* name_of(Severity severity) noexcept;

struct Flag {
  std::string rule;
  Severity severity = Severity::note;
  std::string subject;  // what it is about: "node 2", "cxl-local R"
  double value = 0;     // what was found
  double bound = 0;     // what it was held against
  std::string text;     // both in words
};

[[nodiscard]] Severity worst_of(std::span<const Flag> flags) noexcept;

using Flags = std::vector<Flag>;

// --- single figures ---

// No server's last-level cache answers faster than about 70 cycles at 3.5 GHz.  Used where the
// cache's own latency was not measured; a part that answers faster would change it.
inline constexpr double llc_latency_least_ns = 20;

// Below it by more than a tenth, which is noise.  `llc_latency_ns` 0: not measured.
[[nodiscard]] Flags check_latency_floor(std::string_view subject, double latency_ns,
                                        double llc_latency_ns);

// unordered: memory of which it is not known whether it must be slower, such as HBM.
enum class Distance : std::uint8_t { local_dram, remote_dram, cxl, persistent, unordered };

struct NodeLatency {
  std::string subject;
  Distance distance{};
  double latency_ns = 0;
};

// Latencies as seen from one CPU node.  With sub-NUMA clustering and a buffer below the total of
// the caches, CXL lines use all slices of them and may truly be faster: then a note.
enum class BufferAgainstCaches : std::uint8_t { larger, smaller };
[[nodiscard]] Flags check_latency_order(std::span<const NodeLatency> nodes,
                                        BufferAgainstCaches buffer);

// `peak_gbps` and `firmware_gbps` 0: not known.
[[nodiscard]] Flags check_bandwidth_peak(std::string_view subject, double gbps, double peak_gbps,
                                         double firmware_gbps);

// Lines that one core can have under way: line-fill buffers and those of the second-level cache, of
// which Intel's current server cores have 16 and 48, and others fewer.
inline constexpr double lines_per_core_most = 64;
// Little's law: bandwidth x latency = bytes under way.  Only for mixes whose stores read first: the
// latency of a load says nothing about a non-temporal store, which no core waits for (published
// curves of such mixes have up to 111 lines per core by this sum).
[[nodiscard]] Flags check_little(std::string_view subject, double gbps, double latency_ns,
                                 std::size_t cores);

// What firmware (HMAT, CDAT) says against what was measured.  Either 0: nothing to compare.
[[nodiscard]] Flags check_firmware_latency(std::string_view subject, double measured_ns,
                                           double firmware_ns);

// --- the way of measuring ---

[[nodiscard]] Flags check_placement(std::string_view subject, const PlacementReport& report,
                                    PageKind asked);
// `llc_bytes` 0: not known.
[[nodiscard]] Flags check_buffer_size(std::string_view subject, std::uint64_t bytes,
                                      std::uint64_t llc_bytes);
[[nodiscard]] Flags check_timer(double calibration_error);

// The largest over the least of the sentinel's runs around a block, less 1.
[[nodiscard]] Flags check_drift(std::string_view subject, double drift);
inline constexpr double drift_suspect = 0.05;
inline constexpr double drift_invalid = 0.10;

struct CurvePoint {
  double delay = 0;
  double latency_ns = 0;
  double gbps = 0;
};
// Points in the order of falling delay, that is of rising load.  `noise` is the share by which a
// point may lie off, such as the width of its interval.
[[nodiscard]] Flags check_curve(std::string_view subject, std::span<const CurvePoint> points,
                                double noise);

// --- samples ---

struct DisturbanceLimits {
  double steal_share = 0.02;
  double waiting_share = 0.02;   // our threads together, of the wall time
  double pressure_share = 0.25;  // of the whole host: others' waiting is not ours
  double involuntary_per_s = 200;
  double clock_change = 0.05;
};

// Why a sample does not count; empty if it does.  What the host does not show is no cause.
[[nodiscard]] std::vector<std::string> causes_of(const Disturbance& seen,
                                                 const DisturbanceLimits& limits);
[[nodiscard]] Flags check_samples(std::string_view subject, std::size_t kept, std::size_t rejected);

}  // namespace cxltier::bench
