// SPDX-License-Identifier: Apache-2.0
//
// Which leaves move in one tick, so that each tier carries its target share.
//
//   relieve   a tier over its capacity: coldest down, whatever else is said
//   for each tier f, fastest first, against all slower ones:
//     raise   f carries less than its target, or its target is all that fits
//             hottest up, into free room or in place of a clearly colder leaf
//     lower   f carries more than its target
//             streams down first, then the hottest: least bytes for the share
//             (capacity preset: coldest first, most bytes for the share)
//   spread    static and interleave: each leaf to the tier of its slot
//
// Of leaves that are equally hot, slots decide (interleave.h), so that a uniform region is
// interleaved rather than cut in two.  Every leaf that was looked at keeps the reason.
// Pure; works in the caller's spans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/leaf_map.h"
#include "policy/leaf_survey.h"
#include "policy/move_budget.h"
#include "policy/presets.h"
#include "policy/share_balancer.h"
#include "policy/units.h"

namespace cxltier {

// Pages of a leaf that are on other tiers go to `to`; `pages` of them if they are more.
struct LeafMove {
  std::uint32_t leaf = 0;
  TierIndex from = tier_none;  // where most of them are
  TierIndex to = tier_none;
  Pages pages{};
  Verdict reason = Verdict::unseen;
};

// A leaf that is considered in this tick.  The caller only provides the memory.
struct LeafChoice {
  std::uint32_t leaf = 0;
  std::uint32_t key = 0;
};

// What lowering a tier takes first.
enum class Shed : std::uint8_t { hottest, coldest };

// How uncertain a leaf's rate is: touches are counted, so a rate of r over n pages in a window w
// has the variance r / (n w), of which the averages keep a part.
struct NoiseUnit {
  std::uint64_t touch_q22 = 0;      // 1/w: one touch of one page, in linear_of's unit; 0: exact
  std::uint32_t sampled_pages = 0;  // n; 0: the pages of the leaf
  std::uint32_t short_q16 = 0;      // what the short average keeps of the variance
  std::uint32_t long_q16 = 0;
};

struct PlanInput {
  Nanoseconds now{};
  std::uint8_t tier_count = 0;
  std::array<Pages, tiers_max> used{};
  std::array<Pages, tiers_max> capacity{};
  std::array<std::uint32_t, tiers_max> latency_ps{};  // loaded; 0: unknown
  std::uint64_t mean_latency_ps = 0;                  // J
  std::array<Share16, tiers_max> share{};             // of value, now
  std::array<Share16, tiers_max> target{};            // share16_max: as much as fits
  std::uint64_t mass = 0;                             // of all leaves together
  std::uint64_t wishes = 0;                           // leaves that earn a faster tier
  std::array<Rate, tiers_max> earned_from{};          // value that earns each tier
  std::uint32_t short_32 = 0;
  SampleKind kind = SampleKind::bits;
  NoiseUnit noise{};
  std::uint64_t page_cost_ns = 0;  // application time that moving one page costs
  std::uint64_t pages_max = 0;     // budget
  Nanoseconds tick{};              // how long one epoch lasts
  Pacing pacing = Pacing::steady;
  Shed shed = Shed::hottest;
  // static, interleave: how many of the 128 slots are each tier's; all 0: not wanted.
  std::array<std::uint8_t, tiers_max> slots_of{};
};

struct PlanMemory {
  std::span<LeafChoice> choices;
  std::span<LeafMove> moves;
};

struct PlanResult {
  std::size_t moves = 0;
  // Share of value that the plan shifts into each tier; below 0: out of it.
  std::array<std::int32_t, tiers_max> shifted{};
  std::uint32_t turns = 0;  // moves that undo a recent one
};

// pre:  is_valid(leaves), 2 <= tier_count <= tiers_max, memory.choices.size() >= 4
// post: no leaf twice; executed in order no tier that was within its capacity passes it; together
//       at most pages_max pages; same arguments, same plan.  Verdicts of the leaves are written.
[[nodiscard]] PlanResult plan_leaves(std::span<Leaf> leaves, const PlanInput& input,
                                     const Parameters& parameters,
                                     const PlanMemory& memory) noexcept;

}  // namespace cxltier
