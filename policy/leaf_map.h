// SPDX-License-Identifier: Apache-2.0
//
// The region map at scale: one leaf of 24 bytes for each run of pages that moves as a whole.
//
// A leaf is a place in the caller's array; which pages it covers the caller knows.  With 2 MiB
// leaves a tebibyte is 524,288 leaves, 12 MiB.  Heat is a rate, touches of one page per second, as
// a small floating-point number:
//
//     15      11 10         0
//    [ exponent | mantissa  ]     (2048 + mantissa) * 2^exponent / 2^22 touches per page and second
//
//    code 0 is "untouched"; codes compare as their rates do, so ranking needs no decoding, and
//    the leading bits are the bin of a logarithmic histogram.
//
// A code is close to 2048 times the logarithm of its rate, so exponential decay is a subtraction:
// all leaves lose the same number of codes in a tick, and a decay never changes their order.
//
// Invariant (is_valid): tier and other tier are below tiers_max, wish too or none, a leaf without
// pages has no heat.  Pure values; one thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "policy/region_map.h"
#include "policy/units.h"

namespace cxltier {

// A rate as a code; see the picture above.
struct Rate {
  std::uint16_t code = 0;
  friend constexpr auto operator<=>(Rate, Rate) = default;
};

// How the pages of a leaf are reached, from the order of first touches (access_order.h).
enum class Pattern : std::uint8_t { unknown, random, stream, chase };

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

// One leaf; see sizes in the assertion below.
struct Leaf {
  std::uint32_t pages = 0;         // resident
  Rate rate_short{};               // average over 1 s
  Rate rate_long{};                // average over 10 s
  Rate rate_write{};               // of these, writes; average over 10 s
  std::uint16_t away = 0;          // share of the pages that is on `other`; 65536 is all
  std::uint16_t moved_at = 0;      // in clock_unit, wraps; meaningful if last_move is not none
  std::uint16_t retry_at = 0;      // in clock_unit, wraps; meaningful if refusals > 0
  std::uint16_t call_site = 0;     // who allocated it; 0: unknown
  std::uint8_t tier : 4 = 0;       // where most of it is
  std::uint8_t other : 4 = 0;      // where the rest is
  std::uint8_t wish : 4 = 0xf;     // the tier that its rank earned; 0xf: none
  std::uint8_t epochs : 4 = 0;     // ticks running in which it earned it; saturates
  std::uint8_t scans : 4 = 0;      // with a known heat; saturates
  std::uint8_t pattern : 2 = 0;    // Pattern
  std::uint8_t last_move : 2 = 0;  // Direction
  std::uint8_t reversals : 4 = 0;
  std::uint8_t refusals : 4 = 0;
  std::uint8_t verdict = 0;      // Verdict
  std::uint8_t settled_log = 0;  // log2 of the ticks since its heat changed by more than the margin
};
static_assert(sizeof(Leaf) == 24, "12 MiB for a tebibyte in 2 MiB leaves");

}  // namespace cxltier
