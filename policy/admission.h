// SPDX-License-Identifier: Apache-2.0
//
// Whether a single move may happen: persistence, hysteresis, back-off.
//
// Each is one function of values, so that each can be tested, and switched off by a neutral
// parameter, alone.  The planner asks them; being over a limit overrules all but refusals.
// Pure: any thread.
#pragma once

#include <cstdint>

#include "policy/presets.h"
#include "policy/region_map.h"
#include "policy/units.h"

namespace cxltier {

// base * 2^exponent, without overflow.
[[nodiscard]] Nanoseconds backoff_of(Nanoseconds base, std::uint8_t exponent) noexcept;

// Enough scans have been seen for its heat to mean something.
[[nodiscard]] bool is_known(const Region& region, const Parameters& parameters) noexcept;

// It earned `tier` or a faster one often enough to be promoted there, and is not idle.
[[nodiscard]] bool is_persistent(const Region& region, TierIndex tier,
                                 const Parameters& parameters) noexcept;

// The kernel did not refuse it lately.
[[nodiscard]] bool may_retry(const Region& region, Nanoseconds now,
                             const Parameters& parameters) noexcept;

// It did not move the other way lately.  Going on in the same direction is always allowed, since a
// budget may have cut a move short.
[[nodiscard]] bool may_turn(const Region& region, Direction direction, Nanoseconds now,
                            const Parameters& parameters) noexcept;

// What a score must exceed the other's by.  The sampling noise of a share p over n pages is
// sqrt(p(1-p)/n); small regions are taken as sample_pages_min pages, or nothing could displace
// them.
inline constexpr std::uint64_t sample_pages_min = 64;
[[nodiscard]] std::uint32_t margin_of(const Region& candidate, const Region& victim,
                                      const Parameters& parameters) noexcept;

// `candidate` is so much hotter that it may take the place of `victim`.
[[nodiscard]] bool beats(const Region& candidate, const Region& victim,
                         const Parameters& parameters) noexcept;

}  // namespace cxltier
