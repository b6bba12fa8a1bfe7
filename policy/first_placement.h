// SPDX-License-Identifier: Apache-2.0
//
// Where new memory goes, by who allocates it.
//
// A small table remembers how hot the memory of each call site became.  Everybody gets the fastest
// tier, as first touch has it, but a site that is known to be cold leaves the last tenth of it to
// others.  Under load a block of a gibibyte or more is spread inside, in the proportion that the
// balancer aims at.  Where a tier has no room the next slower one takes over.  Source of the idea:
// Jenga and Soar (2025), placement by call site. Pure values; one thread at a time.
#pragma once

#include <array>
#include <cstdint>

#include "policy/rate.h"
#include "policy/share_balancer.h"
#include "policy/units.h"

namespace cxltier {

// Weights by tier, in 64ths that sum up to 64.
struct FirstPlacement {
  std::array<std::uint8_t, tiers_max> weight{};
};
inline constexpr std::uint32_t placement_one = 64;
inline constexpr Bytes spread_from{std::uint64_t{1} << 30};

// What a block meets.
struct PlacementInput {
  std::uint16_t call_site = 0;  // 0: unknown
  Bytes size{};
  std::uint8_t tier_count = 0;
  std::array<Pages, tiers_max> used{};
  std::array<Pages, tiers_max> capacity{};
  std::array<Share16, tiers_max> target{};  // of traffic; share16_max: as much as fits
  Rate hot{};                               // from this value on a leaf earns the fastest tier
};

class CallSiteHeat {
 public:
  // A leaf of this site was seen with this value.  Site 0 is ignored.
  void learn(std::uint16_t call_site, Rate value) noexcept;
  // 0 if the site is not known.
  [[nodiscard]] Rate value_of(std::uint16_t call_site) const noexcept;
  [[nodiscard]] bool knows(std::uint16_t call_site) const noexcept;

 private:
  // One line for each remainder of the site; a new site takes over a line.
  struct Line {
    std::uint16_t call_site = 0;
    Rate value{};
    std::uint8_t seen = 0;  // saturates
  };
  std::array<Line, 64> lines_{};
};

[[nodiscard]] FirstPlacement choose_first(const PlacementInput& input,
                                          const CallSiteHeat& sites) noexcept;

}  // namespace cxltier
