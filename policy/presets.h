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

enum class PolicyKind : std::uint8_t {
  first_touch,  // observes only
  fixed_ratio,  // "static": N:M:K of pages, held as memory grows and is freed
  interleave,   // weights from the bandwidth of the tiers at the observed mix of writes
  hot_cold,     // hottest to fastest
  balance,      // hot-cold while unloaded; under load, shares of least mean latency
  capacity,     // as little fast memory as a slowdown budget allows
};

// Mechanisms that can be switched off alone, so that tests and the simulator can show what each is
// worth.  All on in every preset.
struct Mechanisms {
  bool guard = true;            // harm_guard: hold and freeze
  bool admission = true;        // benefit over cost, persistence, back-off
  bool marginal_step = true;    // share_balancer goes on from equal latency to least mean latency
  bool change_detector = true;  // recency mode after a change
  bool stream_test = true;      // streams are told from random accesses
};

struct Parameters {
  PolicyKind kind = PolicyKind::first_touch;

  // Persistence: ranked into a tier in this many scans running before promotion to it. Neutral: 0.
  std::uint16_t epochs_hot_min = 0;
  // Scans with a known heat before a leaf may be promoted or displaced.  Neutral: 0.
  std::uint8_t scans_min = 0;

  // Hysteresis: a leaf displaces another only if it is hotter by the greater of these:
  std::uint16_t margin_share_256 = 0;  // this many 256ths of the other's heat; neutral: 0
  std::uint16_t margin_sigma_16 = 0;   // 16ths of a standard deviation of one sample; neutral: 0

  // Ping-pong: after a move, none in the other direction for base * 2^reversals.  Neutral: 0 ns.
  Nanoseconds reversal_backoff{};
  std::uint8_t reversals_max = 0;
  // Refusals: no move of the leaf for base * 2^(refusals - 1).  Neutral: 0 ns.
  Nanoseconds refusal_backoff{};
  std::uint8_t refusals_max = 0;

  Mechanisms mechanisms{};

  // Weight of the short average in a score, in 32nds, in steady and in recency mode.
  std::uint8_t score_short_32 = 0;
  std::uint8_t recency_short_32 = 0;
  // What a stream's page touch, and a stream's single access, weigh against a random one: the time
  // that a faster tier saves, in 16ths.
  std::uint16_t stream_touch_16 = 16;
  std::uint16_t stream_event_16 = 16;

  // Balance, all latencies relative.
  std::uint16_t probe_sigma_permille = 0;  // standard deviation of one probe batch
  std::uint16_t gap_permille = 0;          // latencies closer than this count as equal
  std::uint16_t idle_permille = 0;         // a tier this near to its idle latency is unloaded
  std::uint16_t far_permille = 0;          // a tier this much faster than the next is never shed
  std::uint16_t step_1024 = 0;             // of traffic share, in the climb
  std::uint16_t step_min_1024 = 0;         // not worth a step
  std::uint16_t step_gain_permille = 0;    // a step is kept if J falls by more
  std::uint16_t share_band_1024 = 0;       // shares this near to the target are met

  // Benefit over cost.
  std::uint32_t page_cost_ns = 0;   // of one page, until moves have been measured
  std::uint8_t cost_factor_16 = 0;  // benefit must exceed cost times this; neutral: 0
  Nanoseconds horizon_min{};        // how long a move is believed to pay: as long as the leaf's
  Nanoseconds horizon_max{};        // heat has been steady, within these

  // Budgets.
  std::uint32_t rate_min_mbps = 0;
  std::uint32_t rate_max_mbps = 0;
  std::uint8_t rate_share_256 = 0;       // of the slowest tier's idle bandwidth
  std::uint8_t recency_rate_factor = 1;  // in recency mode
  std::uint16_t stall_permille = 0;      // of the application's time that moves may cost
  std::uint16_t recency_stall_permille = 0;

  // Change detector, in sixteenths of a standard deviation.
  std::uint8_t cusum_drift_16 = 0;
  std::uint8_t cusum_alarm_16 = 0;
  std::uint8_t recency_ticks = 0;
  Nanoseconds tick_steady{};  // how often Tiering wants to be called
  Nanoseconds tick_recency{};

  // Harm guard.
  Nanoseconds guard_window{};
  std::uint8_t reversals_percent = 0;  // of moves; more: hold
  Nanoseconds freeze_every{};
  Nanoseconds freeze_for{};

  // capacity: slowdown against all on the fastest tier that the user accepts.
  std::uint16_t slowdown_permille = 0;
};

// pre of everything that takes Parameters.
[[nodiscard]] bool is_valid(const Parameters& parameters) noexcept;

// The numbers of a named policy.
[[nodiscard]] Parameters preset_of(PolicyKind kind) noexcept;

// "first-touch", "static", "interleave", "hot-cold", "balance", "capacity".
[[nodiscard]] std::string_view name_of(PolicyKind kind) noexcept;
[[nodiscard]] std::optional<PolicyKind> parse_policy(std::string_view name) noexcept;
// Whether the runtime offers it: static wants a ratio and interleave the tiers' bandwidths, which
// nobody gives it yet.
[[nodiscard]] bool is_offered(PolicyKind kind) noexcept;
// All of them, for a message that names the known ones.
[[nodiscard]] std::span<const PolicyKind> all_policies() noexcept;

}  // namespace cxltier
