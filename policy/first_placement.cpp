// SPDX-License-Identifier: Apache-2.0
//
// A direct-mapped table, and three rules in order.
#include "policy/first_placement.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::uint8_t seen_min = 4;  // samples before a site is known
constexpr Share32 line_retained = share_one - share_one / 16;

bool is_nearly_full(const PlacementInput& input, std::size_t tier) {
  const std::uint64_t capacity = input.capacity[tier].count;
  return input.used[tier].count >= capacity - capacity / 10;
}

FirstPlacement all_on(std::size_t tier) {
  FirstPlacement placement;
  placement.weight[tier] = placement_one;
  return placement;
}

// By the balancer's target; pegged tiers count as full.
FirstPlacement spread(const PlacementInput& input, std::size_t first) {
  FirstPlacement placement;
  std::uint64_t sum = 0;
  for (std::size_t t = first; t < input.tier_count; ++t) sum += input.target[t];
  if (sum == 0) return all_on(input.tier_count - std::size_t{1});
  std::uint32_t left = placement_one;
  for (std::size_t t = first; t + 1 < input.tier_count; ++t) {
    const std::uint64_t part = input.target[t] * std::uint64_t{placement_one} / sum;
    placement.weight[t] = static_cast<std::uint8_t>(std::min<std::uint64_t>(part, left));
    left -= placement.weight[t];
  }
  placement.weight[input.tier_count - std::size_t{1}] = static_cast<std::uint8_t>(left);
  return placement;
}

}  // namespace

void CallSiteHeat::learn(std::uint16_t call_site, Rate value) noexcept {
  if (call_site == 0) return;
  Line& line = lines_[call_site % lines_.size()];
  if (line.call_site != call_site) line = {.call_site = call_site, .value = value, .seen = 0};
  line.value = blend(line.value, value, line_retained);
  if (line.seen < 0xff) ++line.seen;
}

bool CallSiteHeat::knows(std::uint16_t call_site) const noexcept {
  const Line& line = lines_[call_site % lines_.size()];
  return call_site != 0 && line.call_site == call_site && line.seen >= seen_min;
}

Rate CallSiteHeat::value_of(std::uint16_t call_site) const noexcept {
  return knows(call_site) ? lines_[call_site % lines_.size()].value : Rate{};
}

FirstPlacement choose_first(const PlacementInput& input, const CallSiteHeat& sites) noexcept {
  CXLTIER_CHECK_DEBUG(input.tier_count >= 1 && input.tier_count <= tiers_max);
  const bool is_loaded = input.target[0] != share16_max;
  if (input.tier_count < 2) return all_on(0);
  if (is_loaded && input.size >= spread_from) return spread(input, 0);
  // The last tenth is not for who is known not to deserve it.
  const bool is_cold = sites.knows(input.call_site) && sites.value_of(input.call_site) < input.hot;
  std::size_t tier = 0;
  while (tier + 1 < input.tier_count && is_cold && is_nearly_full(input, tier)) ++tier;
  return all_on(tier);
}

}  // namespace cxltier
