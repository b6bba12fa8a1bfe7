// SPDX-License-Identifier: Apache-2.0
//
// One pass over the leaves: heat is brought up to date, and sums are taken of where traffic goes.
//
// A leaf's value is its score, weighted by what an access of its kind loses on a slow tier: 1 for
// random accesses, less for streams, whose latency prefetchers hide.  All shares of traffic are
// shares of value, so that the mean latency J counts what the program waits for.
//
// Cost: updates are proportional to the leaves in which something was touched; for all others the
// pass does two subtractions and three sums.  Pure values; one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/leaf_map.h"
#include "policy/presets.h"
#include "policy/rate.h"

namespace cxltier {

// What LeafSample::touched counts.
//   bits    pages of the leaf whose access bit was set in `window`; saturates at its pages
//   counts  events (PEBS, hint faults): proportional to accesses, never saturates
enum class SampleKind : std::uint8_t { bits, counts };

// What leaves that are not in `samples` mean.
enum class Coverage : std::uint8_t { all_seen, listed_only };

// LeafSample::touched of a leaf that could not be looked at; its heat stays as it is.
inline constexpr std::uint32_t touched_unknown = 0xffff'ffff;

// One leaf in which something was touched since the last tick.
struct LeafSample {
  std::uint32_t leaf = 0;        // index into the leaves
  std::uint32_t touched = 0;     // pages or events, or touched_unknown
  std::uint32_t written = 0;     // of these, by writes; 0 if the sensor cannot tell
  std::uint16_t steps = 0;       // successive first touches whose order was seen; 0: not seen
  std::uint16_t steps_near = 0;  // of these, forward within 64 KiB
};

// Sums of one pass.  Masses are value times pages, in 2^-22 touches per second.
struct Survey {
  std::array<std::uint64_t, tiers_max> pages{};
  std::array<std::uint64_t, tiers_max> mass{};
  // By bin of value, over all tiers.
  std::array<std::uint64_t, rate_bins> bin_pages{};
  std::array<std::uint64_t, rate_bins> bin_mass{};
  std::uint64_t wishes = 0;  // leaves that earn a faster tier than theirs
  std::uint64_t mass_all = 0;
  std::uint64_t mass_written = 0;
  std::uint64_t mass_promoted = 0;  // of leaves promoted within the guard's window
  std::uint64_t mass_demoted = 0;   // of leaves that made room for these
};

struct SurveyInput {
  std::span<const LeafSample> samples;  // ascending by leaf, each leaf once
  SampleKind kind = SampleKind::bits;
  Coverage coverage = Coverage::all_seen;
  Nanoseconds window{};
  Nanoseconds elapsed{};
  Nanoseconds now{};
  std::uint32_t short_32 = 0;  // weight of the short average
  // Value from which a leaf earns each tier, from the last pass; 0xffff: none does.
  std::array<Rate, tiers_max> earned_from{};
};

// What an access of a leaf's kind is worth, in 16ths.
[[nodiscard]] std::uint32_t weight_16_of(const Leaf& leaf, SampleKind kind,
                                         const Parameters& parameters) noexcept;

// A leaf's value, in linear_of's unit.
[[nodiscard]] std::uint64_t value_of(const Leaf& leaf, std::uint32_t short_32,
                                     std::uint32_t weight_16) noexcept;

// Brings every leaf up to date and returns the sums.
// pre: samples are as said, their leaves below leaves.size()
[[nodiscard]] Survey survey_leaves(std::span<Leaf> leaves, const SurveyInput& input,
                                   const Parameters& parameters) noexcept;

// Filling tiers from the hottest bin down.
struct CapacityFill {
  std::array<Rate, tiers_max> earned_from{};        // the last tier earns everybody
  std::array<std::uint64_t, tiers_max> mass_max{};  // what the tier would carry, filled so
};
[[nodiscard]] CapacityFill fill_tiers(const Survey& survey,
                                      const std::array<std::uint64_t, tiers_max>& room_pages,
                                      std::size_t tier_count) noexcept;

}  // namespace cxltier
