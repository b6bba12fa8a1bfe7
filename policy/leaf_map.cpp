// SPDX-License-Identifier: Apache-2.0
//
// What becomes of one leaf when it is seen, placed, moved, split or merged.
#include "policy/leaf_map.h"

#include <algorithm>
#include <array>
#include <limits>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::uint32_t away_one = 65536;
constexpr std::uint8_t scans_max = 15;

constexpr std::array<const char*, verdict_count> texts = {
    "not decided on yet",
    "stays: on the tier that it earns",
    "moved up: hotter than what was there",
    "moved down: made room for a hotter one",
    "moved down: a slower tier is to carry more",
    "moved up: the faster tier can carry more",
    "moved down: a stream loses least by it",
    "moved down: the tier was over its limit",
    "moved: to keep the wanted ratio",
    "stays: not seen often enough yet",
    "stays: not hot for long enough yet",
    "stays: moved the other way lately",
    "stays: the kernel refused the move lately",
    "stays: no bytes left in this tick",
    "stays: not clearly hotter than what it would displace",
    "stays: would not earn back what the move costs",
    "stays: no room on the tier where it belongs",
    "stays: the tiers carry their shares",
    "stays: moves are held",
};

// The share that stays over the first scans, until the time constant rules.
Share32 retained_over(std::uint8_t scans, Share32 faded) {
  if (scans <= 2) return 0;
  if (scans == scans_max) return faded;
  return std::min(share_one - share_one / (scans - 1u), faded);
}

// The mean of two rates by pages.
Rate mean_of(Rate a, std::uint64_t pages_a, Rate b, std::uint64_t pages_b) {
  if (pages_a + pages_b == 0) return {};
  const std::uint64_t share = (pages_a << 20) / (pages_a + pages_b);
  return rate_of((linear_of(a) * share + linear_of(b) * ((1u << 20) - share)) >> 20);
}

std::uint64_t end_of(const Extent& extent) { return extent.first_page.value + extent.page_count; }

// What a leaf of `from` hands to an extent that it overlaps in part.
Leaf part_of(const Leaf& leaf, const Extent& from, const Extent& of) {
  const std::uint64_t begin = std::max(from.first_page.value, of.first_page.value);
  const std::uint64_t overlap = std::min(end_of(from), end_of(of)) - begin;
  // At least one page, or the history would be lost with the pages that are gone for now.
  const std::uint64_t pages = leaf.pages * overlap / from.page_count;
  const auto kept = static_cast<std::uint32_t>(std::max<std::uint64_t>(pages, 1));
  return split(leaf, std::min(kept, leaf.pages)).first;
}

}  // namespace

const char* text_of(Verdict verdict) noexcept {
  const auto index = static_cast<std::size_t>(verdict);
  return index < texts.size() ? texts[index] : texts[0];
}

Fading fading_of(Nanoseconds elapsed) noexcept {
  return {.short_retained = retained_share(elapsed, heat_short_time),
          .long_retained = retained_share(elapsed, heat_long_time),
          .short_codes = decay_codes(elapsed, heat_short_time),
          .long_codes = decay_codes(elapsed, heat_long_time)};
}

void observe_leaf(Leaf& leaf, Rate seen, Rate written, const Fading& fading) noexcept {
  if (leaf.pages == 0) return;
  if (leaf.scans < scans_max) leaf.scans = (leaf.scans + 1u) & 0xf;
  const Share32 keep_long = retained_over(leaf.scans, fading.long_retained);
  leaf.rate_short = blend(leaf.rate_short, seen, retained_over(leaf.scans, fading.short_retained));
  leaf.rate_long = blend(leaf.rate_long, seen, keep_long);
  leaf.rate_write = blend(leaf.rate_write, written, keep_long);
}

void note_touch(Leaf& leaf, Touch seen) noexcept {
  const int steady = seen == Touch::some ? leaf.steady + 1 : leaf.steady - int{steady_loss};
  leaf.steady = static_cast<std::uint16_t>(std::clamp<int>(steady, 0, steady_max)) & 0x1f;
  if (leaf.steady == steady_max) leaf.is_steady = 1;
  if (leaf.steady == 0) leaf.is_steady = 0;
}

std::uint32_t hidden_pages(const Leaf& leaf) noexcept {
  const bool is_small = leaf.pages <= steady_leaf_pages_max;
  return is_small && leaf.is_steady != 0 ? leaf.pages / hidden_pages_divisor : 0;
}

void place_leaf(Leaf& leaf, const Residence& resident, std::uint16_t call_site) noexcept {
  std::uint64_t sum = 0;
  std::size_t most = 0;
  for (std::size_t t = 0; t < tiers_max; ++t) {
    sum += resident[t];
    if (resident[t] > resident[most]) most = t;
  }
  if (sum == 0 || leaf.pages == 0) leaf = Leaf{};
  if (call_site != 0) leaf.call_site = call_site;
  if (sum == 0) return;
  std::size_t second = most == 0 ? 1 : 0;
  for (std::size_t t = 0; t < tiers_max; ++t) {
    if (t != most && resident[t] > resident[second]) second = t;
  }
  leaf.pages = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xffff'ffff));
  leaf.tier = most & 0xf;
  leaf.other = second & 0xf;
  leaf.away = static_cast<std::uint16_t>(
      std::min<std::uint64_t>(((sum - resident[most]) * away_one + sum / 2) / sum, away_one - 1));
}

std::uint32_t pages_on(const Leaf& leaf, std::size_t tier) noexcept {
  const auto away =
      static_cast<std::uint32_t>((std::uint64_t{leaf.pages} * leaf.away + away_one / 2) / away_one);
  if (tier == leaf.tier) return leaf.pages - away;
  return tier == leaf.other ? away : 0;
}

std::uint32_t pages_to_move(const Leaf& leaf, TierIndex to) noexcept {
  return leaf.pages - pages_on(leaf, index_of(to));
}

void shift_leaf(Leaf& leaf, TierIndex to, std::uint32_t moved) noexcept {
  Residence resident{};
  resident[leaf.other] += pages_on(leaf, leaf.other);
  if (leaf.other != leaf.tier) resident[leaf.tier] += pages_on(leaf, leaf.tier);
  const std::size_t target = index_of(to);
  for (std::size_t t = 0; t < tiers_max; ++t) {
    if (t == target) continue;
    const std::uint32_t taken = std::min(resident[t], moved);
    resident[t] -= taken;
    resident[target] += taken;
    moved -= taken;
  }
  place_leaf(leaf, resident, 0);
}

Nanoseconds backoff_of(Nanoseconds base, std::uint8_t exponent) noexcept {
  constexpr std::uint64_t longest = std::numeric_limits<std::uint64_t>::max();
  if (base.count == 0) return base;
  if (exponent >= 64 || base.count > longest >> exponent) return {longest};
  return {base.count << exponent};
}

void note_move(Leaf& leaf, Direction direction, Nanoseconds now, Nanoseconds base,
               std::uint8_t reversals_max) noexcept {
  const auto last = static_cast<Direction>(leaf.last_move);
  const bool is_turn = last != Direction::none && last != direction;
  const Nanoseconds pause = backoff_of(base, std::min<std::uint8_t>(leaf.reversals, reversals_max));
  if (is_turn && leaf_age(leaf.moved_at, now) < backoff_of(pause, 2)) {
    if (leaf.reversals < reversals_max) leaf.reversals = (leaf.reversals + 1u) & 0xf;
  } else if (is_turn && leaf.reversals > 0) {
    leaf.reversals = (leaf.reversals - 1u) & 0xf;
  }
  leaf.last_move = static_cast<std::uint8_t>(direction) & 3;
  leaf.moved_at = leaf_clock(now);
  leaf.refusals = 0;
}

void note_refusal(Leaf& leaf, Nanoseconds now, Nanoseconds base,
                  std::uint8_t refusals_max) noexcept {
  const Nanoseconds pause = backoff_of(base, leaf.refusals);
  if (leaf.refusals < refusals_max) leaf.refusals = (leaf.refusals + 1u) & 0xf;
  leaf.retry_at = leaf_clock(now + pause);
}

Leaf merged(const Leaf& a, const Leaf& b) noexcept {
  if (a.pages == 0) return b;
  if (b.pages == 0) return a;
  Leaf leaf = a.pages >= b.pages ? a : b;
  leaf.rate_short = mean_of(a.rate_short, a.pages, b.rate_short, b.pages);
  leaf.rate_long = mean_of(a.rate_long, a.pages, b.rate_long, b.pages);
  leaf.rate_write = mean_of(a.rate_write, a.pages, b.rate_write, b.pages);
  leaf.scans = std::min(a.scans, b.scans) & 0xf;
  leaf.reversals = std::max(a.reversals, b.reversals) & 0xf;
  leaf.epochs = std::min(a.epochs, b.epochs);
  leaf.wish = std::max<std::uint16_t>(a.wish, b.wish) & 0xf;
  leaf.steady = std::min<std::uint16_t>(a.steady, b.steady) & 0x1f;
  leaf.is_steady = a.is_steady & b.is_steady;
  if (a.pattern != b.pattern) leaf.pattern = static_cast<std::uint8_t>(Pattern::unknown);
  Residence resident{};
  for (std::size_t t = 0; t < tiers_max; ++t) resident[t] = pages_on(a, t) + pages_on(b, t);
  place_leaf(leaf, resident, 0);
  return leaf;
}

LeafPair split(const Leaf& leaf, std::uint32_t first_pages) noexcept {
  CXLTIER_CHECK_DEBUG(first_pages <= leaf.pages);
  LeafPair pair{leaf, leaf};
  pair.first.pages = std::min(first_pages, leaf.pages);
  pair.second.pages = leaf.pages - pair.first.pages;
  if (pair.first.pages == 0) pair.first = Leaf{};
  if (pair.second.pages == 0) pair.second = Leaf{};
  return pair;
}

bool may_merge(const Leaf& a, const Leaf& b, std::uint32_t short_32) noexcept {
  if (a.tier != b.tier || a.away != 0 || b.away != 0) return false;
  const std::uint64_t score_a = score_of(a, short_32);
  const std::uint64_t score_b = score_of(b, short_32);
  const std::uint64_t hotter = std::max(score_a, score_b);
  return (hotter - std::min(score_a, score_b)) * 10 <= hotter;
}

bool is_valid(std::span<const Leaf> leaves) noexcept {
  return std::ranges::all_of(leaves, [](const Leaf& leaf) {
    const bool is_cold = leaf.rate_short.code == 0 && leaf.rate_long.code == 0;
    return leaf.tier < tiers_max && leaf.other < tiers_max && (leaf.pages > 0 || is_cold);
  });
}

bool is_valid(std::span<const Extent> extents) noexcept {
  std::uint64_t free_from = 0;
  return std::ranges::all_of(extents, [&free_from](const Extent& extent) {
    const bool is_apart = extent.page_count > 0 && extent.first_page.value >= free_from;
    free_from = end_of(extent);
    return is_apart;
  });
}

void carry_leaves(std::span<const Extent> before, std::span<const Leaf> leaves,
                  std::span<const Extent> after, std::span<Leaf> out) noexcept {
  CXLTIER_CHECK(before.size() == leaves.size() && after.size() == out.size());
  CXLTIER_CHECK_SLOW(is_valid(before) && is_valid(after));
  std::size_t at = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    while (at < before.size() && end_of(before[at]) <= after[i].first_page.value) ++at;
    out[i] = Leaf{};
    if (at < before.size() && before[at] == after[i]) {
      out[i] = leaves[at];
      continue;
    }
    for (std::size_t b = at; b < before.size(); ++b) {
      if (before[b].first_page.value >= end_of(after[i])) break;
      out[i] = merged(out[i], part_of(leaves[b], before[b], after[i]));
    }
  }
}

}  // namespace cxltier
