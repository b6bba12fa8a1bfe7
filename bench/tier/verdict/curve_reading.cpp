// SPDX-License-Identifier: Apache-2.0
//
// The first crossing of a rate, from the light end.
#include "bench/tier/verdict/curve_reading.h"

#include <fmt/format.h>

#include <algorithm>

namespace cxltier::bench {

std::optional<double> latency_at(std::span<const CurvePoint> points, double gbps) {
  if (points.empty()) return std::nullopt;
  if (gbps <= points.front().gbps) return points.front().latency_ns;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CurvePoint& below = points[i - 1];
    const CurvePoint& above = points[i];
    if (above.gbps < gbps || above.gbps <= below.gbps) continue;
    const double part = std::max(0.0, gbps - below.gbps) / (above.gbps - below.gbps);
    return below.latency_ns + part * (above.latency_ns - below.latency_ns);
  }
  return std::nullopt;
}

std::string reading_of(std::span<const CurvePoint> points) {
  double most = 0;
  for (const CurvePoint& point : points) most = std::max(most, point.gbps);
  if (points.size() < 3 || most <= 0) return {};
  std::string text;
  for (const int percent : {10, 30, 60, 75, 90}) {
    const std::optional<double> latency = latency_at(points, most * percent / 100);
    if (!latency) continue;
    text += text.empty() ? fmt::format("{:.0f} ns at {} % of {:.1f} GB/s", *latency, percent, most)
                         : fmt::format(", {:.0f} at {} %", *latency, percent);
  }
  return text;
}

}  // namespace cxltier::bench
