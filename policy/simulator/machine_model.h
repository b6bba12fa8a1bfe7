// SPDX-License-Identifier: Apache-2.0
//
// Tiers of memory as the simulator knows them: idle latency, bandwidth, and how latency grows with
// load.
//
//   latency
//      |                        .      L(u) = L0 (1 + c u^k / (1 - u)),  u = traffic / bandwidth
//      |                       /       beyond u = 0.99 it goes on in a straight line, as steep as
//      |                     .         there: more traffic than bandwidth is possible for a moment
//   L0 |________________..-´           (migration) and costs what it must
//      +------------------------ u
//           0.5           1
//
// or a published curve of (GB/s, ns) points, linear in between.  Reads and writes cost differently:
// DDR is half duplex, a CXL link full duplex, so traffic counts 1 + a w + b w^2 times, where w is
// its share of writes.
//
// Units: ns, and bytes/ns, which is GB/s.  Pure values: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "policy/units.h"

namespace cxltier::simulator {

inline constexpr double line_bytes = 64;
inline constexpr std::uint64_t unit_bytes = 2u << 20;  // what residence and moves are counted in
inline constexpr std::uint64_t unit_pages = 512;       // of 4 KiB

template <typename Value>
using PerTier = std::array<Value, tiers_max>;

// A point of a measured curve.
struct CurvePoint {
  double bandwidth_gbps = 0;
  double latency_ns = 0;
};
inline constexpr std::size_t curve_points_max = 8;

struct TierModel {
  double idle_ns = 0;
  double bandwidth_gbps = 0;  // reads only
  double steepness = 0;       // c
  std::uint32_t knee = 1;     // k
  double write_linear = 0;    // a
  double write_square = 0;    // b
  // Replaces c and k if there are any; ascending in both columns.
  std::array<CurvePoint, curve_points_max> points{};
  std::size_t point_count = 0;
};

// Latency and its slope at a utilisation.
struct CurveValue {
  double latency_ns = 0;
  double slope = 0;  // d latency / d utilisation
};
[[nodiscard]] CurveValue curve_at(const TierModel& tier, double utilisation) noexcept;

// What one byte of traffic with this share of writes takes of the read bandwidth.
// pre: 0 <= write_share <= 1
[[nodiscard]] double traffic_weight(const TierModel& tier, double write_share) noexcept;

struct MachineModel {
  std::string_view name;
  std::string_view source;
  std::size_t tier_count = 2;
  PerTier<TierModel> tiers{};
  double cores = 15;                // of the application
  double lines_per_core = 10;       // it can have outstanding
  double background_lines = 70;     // of one core that streams beside it, on the fastest tier
  double background_think_ns = 80;  // between its requests
  double background_writes = 0;     // share of writes in its traffic
};

// The published machines that the simulator knows, each with its source.
[[nodiscard]] std::span<const MachineModel> known_machines() noexcept;
// By name; null if there is none.
[[nodiscard]] const MachineModel* find_machine(std::string_view name) noexcept;

}  // namespace cxltier::simulator
