// SPDX-License-Identifier: Apache-2.0
//
// One pass over the old map and the new scan, both sorted: what overlaps hands its heat on.
#include "policy/region_map.h"

#include <algorithm>

#include "policy/check.h"
#include "policy/decay.h"

namespace cxltier {
namespace {

constexpr std::uint8_t scans_known_max = 255;

template <typename Extent>
std::uint64_t end_of(const Extent& extent) {
  return extent.first_page.value + extent.page_count;
}

std::uint64_t sum_of(const Residence& resident) {
  std::uint64_t sum = 0;
  for (const std::uint32_t pages : resident) sum += pages;
  return sum;
}

template <typename Extent>
bool are_sorted_and_disjoint(std::span<const Extent> extents) {
  std::uint64_t free_from = 0;
  for (const Extent& extent : extents) {
    if (extent.page_count == 0 || extent.first_page.value < free_from) return false;
    if (end_of(extent) < extent.first_page.value) return false;
    if (sum_of(extent.resident) > extent.page_count) return false;
    free_from = end_of(extent);
  }
  return true;
}

// The heat of one interval.
Heat observed_heat(const Observation& seen) {
  const std::uint64_t resident = sum_of(seen.resident);
  if (resident == 0) return {};
  const std::uint64_t touched = std::min<std::uint64_t>(seen.touched_pages, resident);
  return {static_cast<std::uint16_t>((touched * heat_max + resident / 2) / resident)};
}

// What an extent inherits while the regions that it overlaps are added up.
struct Inheritance {
  std::uint64_t pages = 0;  // that some region covered
  std::uint64_t heat_short = 0;
  std::uint64_t heat_long = 0;  // sums of heat times pages
  Region region{};              // the history; its heats are not yet divided
};

// Histories are joined to the careful side: a re-layout must not make a region forget that it
// bounced, or gain a rank that half of it did not earn.
void join_history(Region& into, const Region& from) {
  into.scans = std::min(into.scans, from.scans);
  into.reversals = std::max(into.reversals, from.reversals);
  into.wish = std::max(into.wish, from.wish);
  into.epochs_hot = std::min(into.epochs_hot, from.epochs_hot);
  into.steady = std::min(into.steady, from.steady);
  if (from.refusals > 0) into.refused_at = std::max(into.refused_at, from.refused_at);
  into.refusals = std::max(into.refusals, from.refusals);
  if (from.last_move != Direction::none &&
      (into.last_move == Direction::none || from.moved_at > into.moved_at)) {
    into.last_move = from.last_move;
    into.moved_at = from.moved_at;
  }
}

void inherit(Inheritance& sum, const Region& from, const Observation& seen) {
  const std::uint64_t begin = std::max(from.first_page.value, seen.first_page.value);
  const std::uint64_t overlap = std::min(end_of(from), end_of(seen)) - begin;
  if (sum.pages == 0) {
    sum.region = from;
  } else {
    join_history(sum.region, from);
  }
  sum.pages += overlap;
  sum.heat_short += overlap * from.heat_short.value;
  sum.heat_long += overlap * from.heat_long.value;
}

// Divides the sums; the part that no region covered counts as hot as it is observed now.
Region settle(const Inheritance& sum, const Observation& seen) {
  Region region = sum.region;
  const std::uint64_t fresh = seen.page_count - sum.pages;
  const std::uint64_t heat = observed_heat(seen).value;
  const bool is_same_extent =
      sum.region.first_page == seen.first_page && sum.region.page_count == seen.page_count;
  region.heat_short = {
      static_cast<std::uint16_t>((sum.heat_short + fresh * heat) / seen.page_count)};
  region.heat_long = {static_cast<std::uint16_t>((sum.heat_long + fresh * heat) / seen.page_count)};
  if (!is_same_extent) region.next_offset = 0;
  return region;
}

// The share that stays of an average over `scans` known scans.  Until the time constant rules it is
// a plain mean of all scans but the first.
Share32 retained_by(Nanoseconds elapsed, Nanoseconds time_constant, std::uint8_t scans) {
  if (scans <= 2) return 0;
  const Share32 mean = share_one - share_one / (scans - 1u);
  const Share32 faded = retained_share(elapsed, time_constant);
  return scans == scans_known_max ? faded : std::min(mean, faded);
}

// Rounds towards the observation, so that a steady heat is reached exactly from both sides.
Heat blend(Heat old, Heat observed, Share32 retained) {
  const std::uint64_t gap = static_cast<std::uint64_t>(old > observed ? old.value - observed.value
                                                                      : observed.value - old.value);
  const auto rest = static_cast<std::uint16_t>(gap * retained >> 32);
  return {
      static_cast<std::uint16_t>(old > observed ? observed.value + rest : observed.value - rest)};
}

void observe(Region& region, const Observation& seen, Nanoseconds elapsed) {
  if (seen.visibility == Visibility::unknown || elapsed.count == 0) return;
  if (region.scans < scans_known_max) ++region.scans;
  const int steady = seen.touched_pages > 0 ? region.steady + 1 : region.steady - int{steady_loss};
  region.steady = static_cast<std::uint8_t>(std::clamp<int>(steady, 0, steady_max));
  const Heat heat = observed_heat(seen);
  region.heat_short =
      blend(region.heat_short, heat, retained_by(elapsed, heat_short_time, region.scans));
  region.heat_long =
      blend(region.heat_long, heat, retained_by(elapsed, heat_long_time, region.scans));
}

}  // namespace

bool is_valid(std::span<const Region> regions) noexcept {
  const bool offsets_inside = std::ranges::all_of(
      regions, [](const Region& region) { return region.next_offset < region.page_count; });
  return offsets_inside && are_sorted_and_disjoint(regions);
}

bool is_valid(std::span<const Observation> seen) noexcept { return are_sorted_and_disjoint(seen); }

std::size_t update_regions(std::span<const Region> before, std::span<const Observation> seen,
                           Nanoseconds elapsed, std::span<Region> after) noexcept {
  CXLTIER_CHECK_SLOW(is_valid(before));
  CXLTIER_CHECK_SLOW(is_valid(seen));
  CXLTIER_CHECK(after.size() >= seen.size());
  std::size_t first = 0;  // the first old region that may overlap this or a later observation
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Observation& now = seen[i];
    Inheritance sum;
    while (first < before.size() && end_of(before[first]) <= now.first_page.value) ++first;
    for (std::size_t j = first; j < before.size() && before[j].first_page.value < end_of(now);
         ++j) {
      inherit(sum, before[j], now);
    }
    Region region = sum_of(now.resident) == 0 ? Region{} : settle(sum, now);
    if (sum_of(now.resident) != 0) observe(region, now, elapsed);
    region.first_page = now.first_page;
    region.page_count = now.page_count;
    region.resident = now.resident;
    after[i] = region;
  }
  CXLTIER_CHECK_SLOW(is_valid(after.first(seen.size())));
  return seen.size();
}

std::uint16_t heat_of(const Region& region) noexcept {
  const std::uint32_t sum =
      score_weight_short * region.heat_short.value + score_weight_long * region.heat_long.value;
  return static_cast<std::uint16_t>(sum / (score_weight_short + score_weight_long));
}

std::uint16_t score_of(const Region& region) noexcept {
  const std::uint32_t score = heat_of(region) + region.steady * steady_heat;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(score, heat_max));
}

Pages resident_pages(const Region& region) noexcept { return {sum_of(region.resident)}; }

}  // namespace cxltier
