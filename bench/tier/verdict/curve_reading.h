// SPDX-License-Identifier: Apache-2.0
//
// Reading a loaded-latency curve off at shares of its greatest bandwidth: a delay is a knob and has
// no unit, so curves of two machines are compared at 10, 30, 60, 75 and 90 % of what each can give.
//
// Straight lines between the points; below the lightest load, its latency.  Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "bench/tier/verdict/validity.h"

namespace cxltier::bench {

// Nothing where no point has so much load.  Points in the order of rising load.
[[nodiscard]] std::optional<double> latency_at(std::span<const CurvePoint> points, double gbps);

// "118 ns at 10 % of 21.0 GB/s, 121 at 30 %, ..."; empty for fewer than 3 points, or without load.
[[nodiscard]] std::string reading_of(std::span<const CurvePoint> points);

}  // namespace cxltier::bench
