// SPDX-License-Identifier: Apache-2.0
//
// Each number of each policy, with its source and what a change of it does.
#include "policy/presets.h"

#include <array>

#include "policy/check.h"

namespace cxltier {
namespace {

struct Preset {
  PolicyKind kind;
  std::string_view name;
  Parameters parameters;
};

// field               value  unit      source, and what a change does
// epochs_hot_min      2      scans     ARMS (2025): more than one interval; higher: later, calmer
// scans_min           2      scans     the first interval contains the faults that brought the
//                                      memory in; lower: the first plan is a guess
// margin_share_256    64     1/256     arbitrary, a quarter: above the 10 % by which shares of a
//                                      steady program differ from scan to scan; the closed-loop
//                                      test would change it.  Higher: calmer, worse packed
// margin_sigma_16     48     sigma/16  3 sigma of one sample: as calm at a scan each 5 s, where
//                                      averages hardly smooth, as 2 are at a scan each second
// reversal_backoff    5      s         doubled per reversal.  Higher: slower to correct a mistake
// reversals_max       7                640 s
// refusal_backoff     1      s         a busy page is free again at the next scan, a pinned one
// refusals_max        7                hardly ever: 64 s
constexpr Parameters hot_cold_parameters = {
    .kind = PolicyKind::hot_cold,
    .epochs_hot_min = 2,
    .scans_min = 2,
    .margin_share_256 = 64,
    .margin_sigma_16 = 48,
    .reversal_backoff = seconds(5),
    .reversals_max = 7,
    .refusal_backoff = seconds(1),
    .refusals_max = 6,
};

// What Tiering runs with beside the above; each preset takes it all.
//
// field                   value  unit    source, and what a change does
// score_short_32             13  1/32    ARMS (2025) history mode: 0.4.  Higher: follows, and errs
// recency_short_32           23  1/32    ARMS recency mode: 0.731
// stream_event_16             2  1/16    a stream has eight accesses under way at once, so each
//                                        stalls for an eighth
// stream_touch_16             2  1/16    the same for a sensor that counts lines, as the model's
//                                        does.  One that sees a page once, whose 64 lines a stream
//                                        all reads, needs 128: not used by the runtime yet
// probe_sigma_permille       30  1/1000  3 %: batches of 64 dependent loads on an idle guest.
//                                        Higher: balance waits longer before it believes a step
// gap_permille               50  1/1000  Colloid (2024): delta 0.05
// idle_permille             100  1/1000  arbitrary: three sigma of a batch.  Higher: DRAM is kept
//                                        longer; 0: it is given away for noise
// far_permille              300  1/1000  the model of the simulator: with a knee of power 7, at a
//                                        latency 26 % lower, the best share gains 1.6 %
// step_1024                 128  1/1024  arbitrary, an eighth: a step whose gain stands out of the
//                                        noise; smaller: moves less and errs more
// step_min_1024              32  1/1024  below it the gain drowns in the noise
// step_gain_permille         10  1/1000  1 %: what moving the share back would lose at most
// share_band_1024            10  1/1024  Colloid: epsilon 0.01
// page_cost_ns             2000  ns      between 1 us (a 2 MiB page at 500 us) and 12 us (4 KiB
// pages
//                                        one by one), until moves have been measured.  Higher: the
//                                        first moves are chosen more strictly
// cost_factor_16             24  1/16    ARMS: 1.5
// horizon_min, horizon_max 60, 600  s    arbitrary: a leaf whose heat was steady for t is expected
//                                        to be so for another t.  Higher: more moves
// rate_min, rate_max   64, 2000  MB/s    a mover's range; TierBPF, pmbench: halving 212 to 106 MB/s
//                                        costs 3.3 %
// rate_share_256             64  1/256   a quarter of what the slow tier has idle
// recency_rate_factor         4          a changed hot set is worth a faster mover
// stall_permille             50  1/1000  arbitrary: moves may slow a program by 5 %
// recency_stall_permille    400  1/1000  and by more for the seconds that a change takes
// cusum_drift_16, alarm   8, 96  s/16    ARMS: 0.5 and 6 sigma
// recency_ticks              20          ARMS: back after 20
// tick_steady, recency  1, 0.25  s       probes: eight batches a second
// guard_window               30  s       arbitrary: ten times the time that a move needs to show
// reversals_percent          20  %       arbitrary: a tenth is noise, a third is thrashing
// freeze_every, for       300, 5  s      1.7 % of the time without moves bounds what moves are
// worth slowdown_permille          50  1/1000  what operators of pooled memory accept: Pond (2023)
// 5 %
constexpr Parameters with_tiering(Parameters base) {
  base.score_short_32 = 13;
  base.recency_short_32 = 23;
  base.stream_event_16 = 2;
  base.stream_touch_16 = 2;
  base.probe_sigma_permille = 30;
  base.gap_permille = 50;
  base.idle_permille = 100;
  base.far_permille = 300;
  base.step_1024 = 128;
  base.step_min_1024 = 32;
  base.step_gain_permille = 10;
  base.share_band_1024 = 10;
  base.page_cost_ns = 2'000;
  base.cost_factor_16 = 24;
  base.horizon_min = seconds(60);
  base.horizon_max = seconds(600);
  base.rate_min_mbps = 64;
  base.rate_max_mbps = 2000;
  base.rate_share_256 = 64;
  base.recency_rate_factor = 4;
  base.stall_permille = 50;
  base.recency_stall_permille = 400;
  base.cusum_drift_16 = 8;
  base.cusum_alarm_16 = 96;
  base.recency_ticks = 20;
  base.tick_steady = seconds(1);
  base.tick_recency = milliseconds(250);
  base.guard_window = seconds(30);
  base.reversals_percent = 20;
  base.freeze_every = seconds(300);
  base.freeze_for = seconds(5);
  base.slowdown_permille = 50;
  return base;
}

constexpr Parameters of_kind(PolicyKind kind) {
  Parameters parameters = with_tiering(hot_cold_parameters);
  parameters.kind = kind;
  return parameters;
}

constexpr std::array presets = {
    Preset{PolicyKind::first_touch, "first-touch", Parameters{}},
    Preset{PolicyKind::fixed_ratio, "static", of_kind(PolicyKind::fixed_ratio)},
    Preset{PolicyKind::interleave, "interleave", of_kind(PolicyKind::interleave)},
    Preset{PolicyKind::hot_cold, "hot-cold", of_kind(PolicyKind::hot_cold)},
    Preset{PolicyKind::balance, "balance", of_kind(PolicyKind::balance)},
    Preset{PolicyKind::capacity, "capacity", of_kind(PolicyKind::capacity)},
};

constexpr std::array kinds = {PolicyKind::first_touch, PolicyKind::fixed_ratio,
                              PolicyKind::interleave,  PolicyKind::hot_cold,
                              PolicyKind::balance,     PolicyKind::capacity};

const Preset& find_preset(PolicyKind kind) {
  for (const Preset& preset : presets) {
    if (preset.kind == kind) return preset;
  }
  return presets[0];
}

}  // namespace

bool is_valid(const Parameters& parameters) noexcept {
  return parameters.reversals_max < 16 && parameters.refusals_max < 16;
}

Parameters preset_of(PolicyKind kind) noexcept {
  const Parameters parameters = find_preset(kind).parameters;
  CXLTIER_CHECK_DEBUG(is_valid(parameters));
  return parameters;
}

std::string_view name_of(PolicyKind kind) noexcept { return find_preset(kind).name; }

std::optional<PolicyKind> parse_policy(std::string_view name) noexcept {
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset.kind;
  }
  return std::nullopt;
}

bool is_offered(PolicyKind kind) noexcept {
  return kind != PolicyKind::fixed_ratio && kind != PolicyKind::interleave;
}

std::span<const PolicyKind> all_policies() noexcept { return kinds; }

}  // namespace cxltier
