// SPDX-License-Identifier: Apache-2.0
//
// The policies that a user can name, and the numbers that each of them runs with.
//
// Every number of the planner is here, with its unit, its source and what a change of it does;
// presets.cpp is the only place that sets them.  A neutral value switches one mechanism off, which
// is how its test shows that it works.  Pure values: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/units.h"

namespace cxltier {

enum class PolicyKind : std::uint8_t { first_touch, hot_cold };

struct Parameters {
  PolicyKind kind = PolicyKind::first_touch;

  // Persistence: ranked into a tier in this many scans running before promotion to it. Neutral: 0.
  std::uint16_t epochs_hot_min = 0;
  // Scans with a known heat before a region may be promoted or displaced.  Neutral: 0.
  std::uint8_t scans_min = 0;
  // A region whose score is below this stays where it is, however much room there is.  Neutral: 0.
  Heat score_min{};

  // Hysteresis: a region displaces another only if its score is higher by the greatest of these:
  std::uint16_t margin_share_256 = 0;  // this many 256ths of the other's score; neutral: 0
  std::uint16_t margin_sigma_16 = 0;   // 16ths of a standard deviation of one sample; neutral: 0
  Heat margin_min{};                   // neutral: 0

  // Watermarks, in 1/1000 of a tier's capacity.  Background demotion starts when less than
  // free_low is free and stops at free_high; promotion fills up to free_high.  Neutral: 0 and 0.
  std::uint16_t free_low_permille = 0;
  std::uint16_t free_high_permille = 0;

  // Ping-pong: after a move, none in the other direction for base * 2^reversals.  Neutral: 0 ns.
  Nanoseconds reversal_backoff{};
  std::uint8_t reversals_max = 0;
  // Refusals: no move of the region for base * 2^(refusals - 1).  Neutral: 0 ns.
  Nanoseconds refusal_backoff{};
  std::uint8_t refusals_max = 0;
};

// pre of everything that takes Parameters.
[[nodiscard]] bool is_valid(const Parameters& parameters) noexcept;

// The numbers of a named policy.
[[nodiscard]] Parameters preset_of(PolicyKind kind) noexcept;

// "first-touch", "hot-cold".
[[nodiscard]] std::string_view name_of(PolicyKind kind) noexcept;
[[nodiscard]] std::optional<PolicyKind> parse_policy(std::string_view name) noexcept;
// All of them, for a message that names the known ones.
[[nodiscard]] std::span<const PolicyKind> all_policies() noexcept;

}  // namespace cxltier
