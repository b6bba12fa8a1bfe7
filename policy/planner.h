// SPDX-License-Identifier: Apache-2.0
//
// Which pages move this tick.
//
//   update_regions -> rank_regions -> plan_moves -> (the mover) -> record_outcome, for each move
//
// hot-cold ranks regions by score and fills the fastest tier, then the next, down to the last one,
// which takes the rest.  It counts pages, not regions: a region may lie on several tiers at once.
//
//              used   0 ........................ free_high .. free_low .. capacity
//   promotion into a tier  ------ allowed ----->|
//   background demotion                         |<---- runs until here, once beyond free_low
//   demotion whatever else is said                                        |<---- beyond capacity
//
// Where promotion finds no room it displaces the coldest region of the tier, if that is colder by
// a margin.  Nothing is demoted but to make room, so a stable workload comes to rest.
//
// Invariants of a plan: at most one move per region; demotions come first; executed in order, no
// tier that was within its capacity passes it, whatever pages of a region are the ones on a tier.
// Pure; the controller's thread calls it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/presets.h"
#include "policy/region_map.h"
#include "policy/units.h"

namespace cxltier {

// What this process holds in a tier, managed by us or not, and what it may hold there right now:
// its limit, or what it has plus what is free above the kernel's watermark, whichever is less.
struct TierLimit {
  Pages used{};
  Pages capacity{};
};

struct Limits {
  std::uint8_t tier_count = 0;  // 0 or 1: nothing to plan
  std::array<TierLimit, tiers_max> tiers{};
  Pages moved_max{};  // in one plan, both directions together
  Nanoseconds now{};
};

// The pages of an extent that are on slower tiers than `to` (promote) or on faster ones (demote)
// move to `to`.  With two tiers: all pages that are not there yet.
struct Move {
  std::uint32_t region = 0;  // index into the regions that were planned for
  PageIndex first_page{};    // the whole region, or the part that fits
  std::uint32_t page_count = 0;
  Direction direction = Direction::none;
  TierIndex to = tier_none;
  Pages pages_expected{};  // at most; exact for a whole region
};

// What became of a move.  Pages that were gone or already there are in neither.
struct MoveCounts {
  Pages moved{};
  Pages refused{};
};

// A region in the order of its score.  rank_regions fills them, plan_moves keeps its notes in them;
// the caller only provides the memory.
struct Rank {
  std::uint32_t region = 0;
  std::uint16_t score = 0;
  TierIndex to = tier_none;  // plan_moves: where it goes
  std::uint32_t pages = 0;   // plan_moves: how many of it at most
};

// pages that `direction` to `to` would move.
[[nodiscard]] Pages movable_pages(const Region& region, Direction direction, TierIndex to) noexcept;

// Ranks the regions, hottest first, and notes in each which tier it earned and for how long.
// Call it once after each update_regions, never twice: it counts scans.
// pre:  is_valid(regions), ranks.size() == regions.size()
// post: ranks hold each region once; same arguments, same order
void rank_regions(std::span<Region> regions, const Limits& limits, const Parameters& parameters,
                  std::span<Rank> ranks) noexcept;

// Chooses moves for one tick and returns how many it wrote to `out`.
// pre:  ranks are those of rank_regions for these regions; is_valid(parameters)
// post: moves are disjoint, demotions before promotions, together at most limits.moved_max pages;
//       same arguments, same moves.  first-touch: none.
std::size_t plan_moves(std::span<const Region> regions, const Limits& limits,
                       const Parameters& parameters, std::span<Move> out,
                       std::span<Rank> ranks) noexcept;

// Notes in a region what became of its move: placement (until the next scan knows better),
// reversals, refusals.  A reversal counts if it came within 4 times the back-off; a turn after a
// longer rest takes one off instead.
// pre: move was planned for this region
void record_outcome(Region& region, const Move& move, MoveCounts counts, Nanoseconds now,
                    const Parameters& parameters) noexcept;

}  // namespace cxltier
