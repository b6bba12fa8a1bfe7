// SPDX-License-Identifier: Apache-2.0
//
// Streams and chases told apart by the order in which pages are first touched.
//
// Whoever walks through memory touches the next page next: at least 0.8 of the steps between
// successive first touches go forward by at most 64 KiB.  Prefetchers hide the latency of such a
// walk, so it loses least on a slow tier and is shed first; a random order pays every access in
// full.  In between nothing is said, and what was said before stays.
// Source of the thresholds: the surrogate for stall per access when no PMU can be read; Soar and
// PACT (2025, 2026) measure the same with counters.  Pure values: any thread.
#pragma once

#include <cstdint>
#include <span>

#include "policy/units.h"

namespace cxltier {

// unknown: order not seen often enough.  chase: each touch far from the one before.
enum class Pattern : std::uint8_t { unknown, stream, chase };

inline constexpr std::uint32_t order_steps_min = 8;  // fewer steps say nothing
inline constexpr std::uint32_t stream_share_percent = 80;
inline constexpr std::uint32_t chase_share_percent = 40;
inline constexpr Bytes step_near_max{64u << 10};

// What `near` of `steps` steps say.  pre: near <= steps
[[nodiscard]] Pattern pattern_of(std::uint32_t steps, std::uint32_t near) noexcept;

struct OrderCount {
  std::uint16_t steps = 0;
  std::uint16_t near = 0;
};

// Counts the steps between the pages of a region in the order of their first touch; saturates.
[[nodiscard]] OrderCount count_steps(std::span<const PageIndex> first_touches,
                                     Bytes page_size) noexcept;

}  // namespace cxltier
