// SPDX-License-Identifier: Apache-2.0
//
// The regions of a process: where their pages are, how hot they are, what was done to them.
//
// A region is a run of pages with one heat.  The sensor decides the extents, anew at each scan; a
// region inherits from the regions that it overlaps, weighted by overlap:
//
//   before   [ hot 0.8 ........ ][ cold 0.0 ........ ]
//   seen     [ A ....... ][ B ......... ][ C ............... grown ]
//   after      A: 0.8       B: 0.8|0.0      C: 0.0 | new part: as observed now
//
// Heat is the share of a region's resident pages that was touched between two scans.  Two moving
// averages of it, short and long, forget with the time that passed, not with the number of scans.
//
// Shares are not converted to rates.  An access bit saturates at one touch, so a rate needs
// -log(1 - share), which turns the noise near 1 into anything, and is wrong for a region of which
// one half is always touched and the other never.  It is not needed either: all regions see the
// same sequence of intervals and the share rises with the rate, so a rank is fair although a long
// interval raises all heats.  The sensor keeps the interval where shares are between 0.1 and 0.9.
//
// Invariant (is_valid): regions are sorted and disjoint, none is empty, no more pages are resident
// than the region has, and next_offset lies inside.  Pure values; the controller's thread owns
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/units.h"

namespace cxltier {

// What a sensor can say of one region.  unknown: its access bits could not be cleared, for
// instance because a fork child shares the pages.  Its heat is kept; only placement is updated.
enum class Visibility : std::uint8_t { seen, unknown };

// Pages by tier.
using Residence = std::array<std::uint32_t, tiers_max>;

// What a sensor saw of one region between two scans.
struct Observation {
  PageIndex first_page{};
  std::uint32_t page_count = 0;
  std::uint32_t touched_pages = 0;
  Visibility visibility = Visibility::unknown;
  Residence resident{};
};

// Towards a faster tier, or a slower one.
enum class Direction : std::uint8_t { none, promote, demote };

struct Region {
  PageIndex first_page{};
  std::uint32_t page_count = 0;
  Residence resident{};
  Heat heat_short{};
  Heat heat_long{};
  std::uint8_t scans = 0;      // with a known heat; saturates
  std::uint8_t reversals = 0;  // moves that undid the one before, running
  std::uint8_t refusals = 0;   // moves that were refused in part or in full, running
  std::uint8_t steady = 0;     // up with each scan that saw a touch, far down else
  Direction last_move = Direction::none;
  TierIndex wish = tier_none;     // the tier that its rank earned it at the last scan
  std::uint16_t epochs_hot = 0;   // scans running in which it earned `wish` or a faster tier
  std::uint32_t next_offset = 0;  // where a move that was cut to fit goes on
  Nanoseconds moved_at{};         // meaningful if last_move is not none
  Nanoseconds refused_at{};       // meaningful if refusals > 0
};

// Time constants of the two averages and their weights in the score, in 1/5: the history mode of
// ARMS (2025; 1 s and 10 s, 0.4 and 0.6).  A longer long average moves less and follows later.
inline constexpr Nanoseconds heat_short_time = seconds(1);
inline constexpr Nanoseconds heat_long_time = seconds(10);
inline constexpr std::uint32_t score_weight_short = 2;
inline constexpr std::uint32_t score_weight_long = 3;

// An access bit saturates: a page that is used a hundred thousand times a second looks like one
// that was touched once, and in a large region of cold pages its share vanishes.  But it is there
// in every scan, while chance touches are not.  So a region that no scan saw untouched may hold
// such a page, and ranks above its cold equals: steadiness counts as up to a quarter of the
// greatest heat, about what a hot region shows in a window of TouchWindow's length.  24 scans to
// gain, and a third of it lost by one scan without a touch: by chance alone, regions that show
// fewer than two touched pages hardly come up, and those that show four hardly come down.
inline constexpr std::uint8_t steady_max = 24;
inline constexpr std::uint8_t steady_loss = steady_max / 3;
inline constexpr std::uint32_t steady_heat = heat_max / 5 / steady_max;

[[nodiscard]] bool is_valid(std::span<const Region> regions) noexcept;
[[nodiscard]] bool is_valid(std::span<const Observation> seen) noexcept;

// Carries the map over to the extents of the newest scan; returns how many regions were written.
// The first known scan of a region gives its heat and the second replaces it, since the first
// interval contains the faults that brought the memory in; from then on both are averages.
// pre:  is_valid(before), is_valid(seen), after.size() >= seen.size(), after apart from before
// post: is_valid(after up to the count); one region per observation, same extents.  An elapsed of
//       0 updates placement only.  A region without resident pages starts anew.
std::size_t update_regions(std::span<const Region> before, std::span<const Observation> seen,
                           Nanoseconds elapsed, std::span<Region> after) noexcept;

// 0.4 short + 0.6 long, at most heat_max.
[[nodiscard]] std::uint16_t heat_of(const Region& region) noexcept;

// What regions are ranked by: their heat and their steadiness, at most heat_max.
[[nodiscard]] std::uint16_t score_of(const Region& region) noexcept;

[[nodiscard]] Pages resident_pages(const Region& region) noexcept;

}  // namespace cxltier
