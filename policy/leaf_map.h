// SPDX-License-Identifier: Apache-2.0
//
// The region map at scale: one leaf of 24 bytes for each run of pages that moves as a whole.
//
// A leaf is a place in the caller's array; which pages it covers the caller knows.  With 2 MiB
// leaves a tebibyte is 524,288 leaves, 12 MiB.  Heat is a rate (rate.h), in two moving averages of
// 1 s and 10 s; a leaf that was not touched only loses codes, which is a subtraction.
//
// Pages of one leaf may lie on several tiers; the leaf knows the two that hold most of them, and
// counts what is on a third with the second:
//
//     tier   65536 - away of 65536        other   away of 65536
//
// Invariant (is_valid): tier and other are below tiers_max, and a leaf without pages is cold.  Pure
// values; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "policy/access_order.h"
#include "policy/rate.h"
#include "policy/units.h"

namespace cxltier {

// Pages by tier.
using Residence = std::array<std::uint32_t, tiers_max>;

// Towards a faster tier, or a slower one.
enum class Direction : std::uint8_t { none, promote, demote };

// Time constants of the two averages: the history mode of ARMS (2025).  A longer long average moves
// less and follows later.
inline constexpr Nanoseconds heat_short_time = seconds(1);
inline constexpr Nanoseconds heat_long_time = seconds(10);

// Why a leaf stayed where it is or moved: the last word that the planner had on it.
enum class Verdict : std::uint8_t {
  unseen,         // no decision yet
  in_place,       // on the tier that it earns
  promoted,       // hotter than what was there, or into free room
  demoted,        // made room for a hotter one
  balanced_down,  // moved down although hot: the faster tier is loaded
  balanced_up,    // moved up since the faster tier carries less than its share
  shed_stream,    // moved down first: a stream loses least by latency
  relieved,       // moved down since the tier was over its limit or its watermark
  spread,         // moved to keep the wanted ratio of pages or weights
  waits_scans,    // not seen often enough
  waits_epochs,   // not long enough in the top set
  waits_turn,     // moved the other way lately
  waits_retry,    // the kernel refused it lately
  waits_budget,   // earned it, no bytes left in this tick
  below_margin,   // not clearly hotter than what it would displace
  below_cost,     // would not earn back what the move costs
  no_room,        // target full, nothing there may give way
  share_is_met,   // the shares are right as they are
  held,           // the guard or a freeze window holds all moves
};
inline constexpr std::size_t verdict_count = static_cast<std::size_t>(Verdict::held) + 1;

// A sentence for people: "moved up: hotter than what was there".
[[nodiscard]] const char* text_of(Verdict verdict) noexcept;

struct Leaf {
  std::uint32_t pages = 0;          // resident
  Rate rate_short{};                // touches per page and second, average over 1 s
  Rate rate_long{};                 // over 10 s
  Rate rate_write{};                // of these, by writes; over 10 s
  std::uint16_t away = 0;           // share of the pages that is on `other`
  std::uint16_t moved_at = 0;       // LeafClock; meaningful if last_move is not none
  std::uint16_t retry_at = 0;       // LeafClock; meaningful if refusals > 0
  std::uint16_t call_site = 0;      // who allocated it; 0: unknown
  std::uint8_t tier : 4 = 0;        // where most of it is
  std::uint8_t other : 4 = 0;       // where the rest is
  std::uint8_t scans : 4 = 0;       // with a known heat; saturates
  std::uint8_t pattern : 2 = 0;     // Pattern
  std::uint8_t last_move : 2 = 0;   // Direction
  std::uint8_t reversals : 4 = 0;   // moves that undid the one before, running
  std::uint8_t refusals : 4 = 0;    // moves that were refused, running
  std::uint8_t epochs = 0;          // ticks running in which it earned a faster tier; saturates
  std::uint16_t verdict : 5 = 0;    // Verdict
  std::uint16_t wish : 4 = 0xf;     // the fastest tier that its rank earns it; wish_own: its own
  std::uint16_t steady : 5 = 0;     // up with each scan that saw a touch, far down else
  std::uint16_t is_steady : 1 = 0;  // was at its most, and since then not at its least
};
static_assert(sizeof(Leaf) == 24, "12 MiB for a tebibyte in 2 MiB leaves");
static_assert(tiers_max < 0xf && verdict_count <= 32);
inline constexpr std::uint8_t wish_own = 0xf;

// An access bit saturates: a page that is used a hundred thousand times a second looks like one
// that was touched once, and in a leaf of cold pages its share vanishes.  But it is there in every
// scan, while chance touches are not.  So a small leaf that 24 scans running saw touched is taken
// to hide such pages, a fifth of its own, until it is seen untouched several times: by chance
// alone, leaves that show fewer than two touched pages hardly come up, and those that show three
// hardly come down.  Of a large leaf some page is always touched by chance: that says nothing.
inline constexpr std::uint8_t steady_max = 24;
inline constexpr std::uint8_t steady_loss = steady_max / 3;
inline constexpr std::uint32_t steady_leaf_pages_max = 1024;
inline constexpr std::uint32_t hidden_pages_divisor = 5;
// Pages that a steady leaf is taken to hide beyond those that are seen touched.
[[nodiscard]] std::uint32_t hidden_pages(const Leaf& leaf) noexcept;
enum class Touch : std::uint8_t { none, some };
void note_touch(Leaf& leaf, Touch seen) noexcept;

// Points in time as a leaf keeps them: 16 bits in quarters of a second, a ring of 4.5 hours.
inline constexpr std::uint64_t leaf_clock_ns = 250'000'000;
[[nodiscard]] constexpr std::uint16_t leaf_clock(Nanoseconds time) noexcept {
  return static_cast<std::uint16_t>(time.count / leaf_clock_ns);
}
// How long ago; at most the length of the ring.
[[nodiscard]] constexpr Nanoseconds leaf_age(std::uint16_t then, Nanoseconds now) noexcept {
  return {static_cast<std::uint16_t>(leaf_clock(now) - then) * leaf_clock_ns};
}

// One tick's forgetting, the same for all leaves.
struct Fading {
  Share32 short_retained = share_one;
  Share32 long_retained = share_one;
  std::uint16_t short_codes = 0;
  std::uint16_t long_codes = 0;
};
[[nodiscard]] Fading fading_of(Nanoseconds elapsed) noexcept;

// Not touched in this tick.
constexpr void fade(Leaf& leaf, const Fading& fading) noexcept {
  leaf.rate_short = decayed(leaf.rate_short, fading.short_codes);
  leaf.rate_long = decayed(leaf.rate_long, fading.long_codes);
  leaf.rate_write = decayed(leaf.rate_write, fading.long_codes);
}

// Seen with this heat.  The first known scan gives a leaf its heat and the second replaces it,
// since the first interval contains the faults that brought the memory in; then a plain mean of
// all scans until the time constants rule.
void observe_leaf(Leaf& leaf, Rate seen, Rate written, const Fading& fading) noexcept;

// Its pages are these now.  A leaf without pages starts anew.
void place_leaf(Leaf& leaf, const Residence& resident, std::uint16_t call_site) noexcept;

// `moved` of its pages went to `to`.
void shift_leaf(Leaf& leaf, TierIndex to, std::uint32_t moved) noexcept;

// Pages on a tier, rounded.
[[nodiscard]] std::uint32_t pages_on(const Leaf& leaf, std::size_t tier) noexcept;
// Pages that are not on `to`.
[[nodiscard]] std::uint32_t pages_to_move(const Leaf& leaf, TierIndex to) noexcept;

// What leaves are ranked by: short and long average in 32nds, in linear_of's unit.
[[nodiscard]] constexpr std::uint64_t score_of(const Leaf& leaf, std::uint32_t short_32) noexcept {
  return (linear_of(leaf.rate_short) * short_32 + linear_of(leaf.rate_long) * (32 - short_32)) / 32;
}

// base * 2^exponent, without overflow.
[[nodiscard]] Nanoseconds backoff_of(Nanoseconds base, std::uint8_t exponent) noexcept;

// Notes a move for back-off: a turn within four times its pause is a reversal, a later one takes
// one off.
void note_move(Leaf& leaf, Direction direction, Nanoseconds now, Nanoseconds base,
               std::uint8_t reversals_max) noexcept;
void note_refusal(Leaf& leaf, Nanoseconds now, Nanoseconds base,
                  std::uint8_t refusals_max) noexcept;

// One leaf out of two neighbours: pages add up, heat is their mean by pages, histories are joined
// to the careful side.
[[nodiscard]] Leaf merged(const Leaf& a, const Leaf& b) noexcept;
// The two parts of a leaf of which the first has `first_pages` resident pages: same heat, same
// history.  pre: first_pages <= leaf.pages
struct LeafPair {
  Leaf first;
  Leaf second;
};
[[nodiscard]] LeafPair split(const Leaf& leaf, std::uint32_t first_pages) noexcept;
// Neighbours whose heat differs by less than a tenth, and that lie on the same tiers, are told
// apart for nothing.
[[nodiscard]] bool may_merge(const Leaf& a, const Leaf& b, std::uint32_t short_32) noexcept;

[[nodiscard]] bool is_valid(std::span<const Leaf> leaves) noexcept;

// The pages of a leaf, for whoever cuts memory into leaves.
struct Extent {
  PageIndex first_page{};
  std::uint32_t page_count = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};
[[nodiscard]] bool is_valid(std::span<const Extent> extents) noexcept;

// Carries leaves over to extents that were cut anew: what overlaps hands its heat and history on,
// by overlap; what is new is an empty leaf.  Placement is the caller's to tell (place_leaf).
// pre: extents are sorted and disjoint, before.size() == leaves.size(), after.size() == out.size(),
//      out apart from leaves
void carry_leaves(std::span<const Extent> before, std::span<const Leaf> leaves,
                  std::span<const Extent> after, std::span<Leaf> out) noexcept;

}  // namespace cxltier
