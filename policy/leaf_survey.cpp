// SPDX-License-Identifier: Apache-2.0
//
// The pass is written for its common case, a leaf that nobody touched.
#include "policy/leaf_survey.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

// Moves older than this are forgotten, long before a leaf's clock wraps.
constexpr Nanoseconds move_memory = seconds(2048);

constexpr std::uint32_t weight_one_16 = 16;

void take_sample(Leaf& leaf, const LeafSample& sample, const SurveyInput& input,
                 const Fading& fading) {
  if (sample.touched == touched_unknown) return;
  const bool is_bits = input.kind == SampleKind::bits;
  note_touch(leaf, sample.touched > 0 ? Touch::some : Touch::none);
  const std::uint32_t hidden = is_bits ? hidden_pages(leaf) : 0;
  const auto rate = [&](std::uint32_t count) {
    return is_bits ? rate_of_bits(count, leaf.pages, input.window)
                   : rate_of_events(count, leaf.pages, input.window);
  };
  observe_leaf(leaf, rate(sample.touched + hidden), rate(sample.written), fading);
  const Pattern pattern = pattern_of(sample.steps, std::min(sample.steps_near, sample.steps));
  if (pattern != Pattern::unknown) leaf.pattern = static_cast<std::uint8_t>(pattern) & 3;
}

// The slowest tier that holds pages of it.
std::uint8_t slowest_of(const Leaf& leaf) {
  return leaf.away != 0 ? std::max<std::uint8_t>(leaf.tier, leaf.other) : leaf.tier;
}

void note_wish(Leaf& leaf, Rate value, const std::array<Rate, tiers_max>& earned_from) {
  for (std::uint8_t tier = 0; tier < slowest_of(leaf); ++tier) {
    if (value < earned_from[tier]) continue;
    leaf.epochs = leaf.wish > tier ? std::uint8_t{1}
                                   : static_cast<std::uint8_t>(leaf.epochs + (leaf.epochs < 0xff));
    leaf.wish = tier & 0xf;
    return;
  }
  leaf.epochs = 0;
  leaf.wish = wish_own;
}

// Adds to the guard's account what a recent move still earns or costs.
void note_recent(Leaf& leaf, std::uint64_t mass, const SurveyInput& input,
                 const Parameters& parameters, Survey& survey) {
  const Nanoseconds age = leaf_age(leaf.moved_at, input.now);
  if (age > move_memory) leaf.last_move = static_cast<std::uint8_t>(Direction::none) & 3;
  if (age > parameters.guard_window) return;
  const bool is_up = leaf.last_move == static_cast<std::uint8_t>(Direction::promote);
  (is_up ? survey.mass_promoted : survey.mass_demoted) += mass;
}

bool is_cold(const Leaf& leaf) { return leaf.rate_short.code == 0 && leaf.rate_long.code == 0; }

void count_pages(const Leaf& leaf, Survey& survey) {
  if (leaf.away == 0) {
    survey.pages[leaf.tier] += leaf.pages;
    return;
  }
  const std::uint32_t there = pages_on(leaf, leaf.other);
  survey.pages[leaf.other] += there;
  survey.pages[leaf.tier] += leaf.pages - there;
}

void count_warm(Leaf& leaf, const SurveyInput& input, const Parameters& parameters,
                Survey& survey) {
  const std::uint64_t value =
      value_of(leaf, input.short_32, weight_16_of(leaf, input.kind, parameters));
  const Rate code = rate_of(value);
  const std::size_t bin = bin_of(code);
  const std::uint64_t mass = value * leaf.pages;
  survey.bin_pages[bin] += leaf.pages;
  survey.bin_mass[bin] += mass;
  survey.mass_written += linear_of(leaf.rate_write) * leaf.pages;
  survey.mass_all += linear_of(leaf.rate_long) * leaf.pages;
  if (leaf.away == 0) {
    survey.mass[leaf.tier] += mass;
  } else {
    const std::uint64_t there = value * pages_on(leaf, leaf.other);
    survey.mass[leaf.other] += there;
    survey.mass[leaf.tier] += mass - there;
  }
  const bool is_seen = input.coverage == Coverage::all_seen;
  if (slowest_of(leaf) != 0 && is_seen) note_wish(leaf, code, input.earned_from);
  if (leaf.wish < slowest_of(leaf)) ++survey.wishes;
  if (leaf.last_move != 0) note_recent(leaf, mass, input, parameters, survey);
}

}  // namespace

std::uint32_t weight_16_of(const Leaf& leaf, SampleKind kind,
                           const Parameters& parameters) noexcept {
  const bool is_stream = leaf.pattern == static_cast<std::uint8_t>(Pattern::stream);
  if (!is_stream || !parameters.mechanisms.stream_test) return weight_one_16;
  return kind == SampleKind::bits ? parameters.stream_touch_16 : parameters.stream_event_16;
}

std::uint64_t value_of(const Leaf& leaf, std::uint32_t short_32, std::uint32_t weight_16) noexcept {
  const std::uint64_t score = score_of(leaf, short_32);
  return weight_16 == weight_one_16 ? score : score * weight_16 / weight_one_16;
}

Survey survey_leaves(std::span<Leaf> leaves, const SurveyInput& input,
                     const Parameters& parameters) noexcept {
  const Fading fading = fading_of(input.elapsed);
  const bool fades = input.coverage == Coverage::all_seen;
  constexpr std::uint32_t nobody = 0xffff'ffff;
  Survey survey;
  std::size_t next = 0;
  std::uint32_t next_leaf = input.samples.empty() ? nobody : input.samples[0].leaf;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Leaf& leaf = leaves[i];
    if (i == next_leaf) {
      take_sample(leaf, input.samples[next++], input, fading);
      next_leaf = next < input.samples.size() ? input.samples[next].leaf : nobody;
    } else if (is_cold(leaf)) {
      count_pages(leaf, survey);
      continue;
    } else if (fades) {
      fade(leaf, fading);
      note_touch(leaf, Touch::none);
    }
    count_pages(leaf, survey);
    if (!is_cold(leaf)) {
      count_warm(leaf, input, parameters, survey);
    } else {
      leaf.epochs = 0;
      leaf.wish = wish_own;
    }
  }
  CXLTIER_CHECK_DEBUG(next == input.samples.size());
  std::uint64_t pages = 0;
  for (const std::uint64_t on_tier : survey.pages) pages += on_tier;
  for (const std::uint64_t in_bin : survey.bin_pages) pages -= in_bin;
  survey.bin_pages[0] += pages;
  return survey;
}

CapacityFill fill_tiers(const Survey& survey,
                        const std::array<std::uint64_t, tiers_max>& room_pages,
                        std::size_t tier_count) noexcept {
  CapacityFill fill;
  for (Rate& from : fill.earned_from) from = {0xffff};
  std::size_t bin = rate_bins;
  std::uint64_t pages = 0;  // of this bin, not yet dealt
  std::uint64_t mass = 0;
  for (std::size_t tier = 0; tier < tier_count; ++tier) {
    std::uint64_t room = room_pages[tier];
    const bool is_last = tier + 1 == tier_count;
    while (room > 0 && (pages > 0 || bin > 0)) {
      if (pages == 0) {
        --bin;
        pages = survey.bin_pages[bin];
        mass = survey.bin_mass[bin];
        if (pages == 0) continue;
      }
      const std::uint64_t taken = is_last ? pages : std::min(room, pages);
      const std::uint64_t part = mass / pages * taken;
      fill.mass_max[tier] += part;
      fill.earned_from[tier] = {static_cast<std::uint16_t>(bin << rate_bin_bits)};
      room -= std::min(room, taken);
      pages -= taken;
      mass -= std::min(mass, part);
    }
  }
  return fill;
}

}  // namespace cxltier
