// SPDX-License-Identifier: Apache-2.0
//
// Sums of one pass against sums made by hand, and filling tiers from the hottest bin down.
#include "policy/leaf_survey.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>
#include <vector>

namespace cxltier {
namespace {

const Parameters parameters = preset_of(PolicyKind::balance);

std::vector<Leaf> leaves_of(std::size_t count, std::uint32_t pages) {
  std::vector<Leaf> leaves(count);
  for (std::size_t i = 0; i < count; ++i) {
    Residence resident{};
    resident[i % 2] = pages;
    place_leaf(leaves[i], resident, 0);
  }
  return leaves;
}

SurveyInput input_of(std::span<const LeafSample> samples) {
  SurveyInput input{.samples = samples,
                    .window = milliseconds(50),
                    .elapsed = seconds(1),
                    .now = seconds(100),
                    .short_32 = 13};
  input.earned_from.fill(Rate{0xffff});
  return input;
}

TEST(LeafSurvey, CountsPagesAndTrafficByTier) {
  std::vector<Leaf> leaves = leaves_of(4, 512);
  const std::array<LeafSample, 2> samples = {LeafSample{.leaf = 0, .touched = 50},
                                             LeafSample{.leaf = 3, .touched = 50}};
  const Survey survey = survey_leaves(leaves, input_of(samples), parameters);
  EXPECT_EQ(survey.pages[0], 1024u);
  EXPECT_EQ(survey.pages[1], 1024u);
  EXPECT_EQ(survey.mass[0], survey.mass[1]);
  EXPECT_EQ(survey.bin_pages[0], 1024u) << "two were not touched";
  // -ln(1 - 50/512.5) / 50 ms = 2.05 touches of each of 512 pages a second.
  EXPECT_NEAR(static_cast<double>(survey.mass[0]) / 4194304 / 512, 2.05, 0.01);
}

// Of a hot leaf that lies mostly on the fastest tier the rest belongs there too.
TEST(LeafSurvey, ALeafWishesForTheRestOfItself) {
  std::vector<Leaf> leaves = leaves_of(2, 512);
  shift_leaf(leaves[0], TierIndex{1}, 128);
  const std::array<LeafSample, 1> samples = {LeafSample{.leaf = 0, .touched = 50}};
  SurveyInput input = input_of(samples);
  input.earned_from[0] = Rate{1};
  const Survey survey = survey_leaves(leaves, input, parameters);
  EXPECT_EQ(leaves[0].wish, 0);
  EXPECT_EQ(leaves[0].epochs, 1);
  EXPECT_EQ(survey.wishes, 1u);
}

TEST(LeafSurvey, WhatCouldNotBeSeenKeepsItsHeat) {
  std::vector<Leaf> leaves = leaves_of(2, 512);
  const std::array<LeafSample, 2> seen = {LeafSample{.leaf = 0, .touched = 50},
                                          LeafSample{.leaf = 1, .touched = 50}};
  (void)survey_leaves(leaves, input_of(seen), parameters);
  const std::array<LeafSample, 1> unknown = {LeafSample{.leaf = 0, .touched = touched_unknown}};
  const Rate before = leaves[0].rate_long;
  (void)survey_leaves(leaves, input_of(unknown), parameters);
  EXPECT_EQ(leaves[0].rate_long, before);
  EXPECT_LT(leaves[1].rate_long, before) << "that one was seen, and untouched";
}

TEST(LeafSurvey, HalfOfALeafCountsWhereItIs) {
  std::vector<Leaf> leaves = leaves_of(1, 512);
  shift_leaf(leaves[0], TierIndex{1}, 128);
  const std::array<LeafSample, 1> samples = {LeafSample{.leaf = 0, .touched = 50}};
  const Survey survey = survey_leaves(leaves, input_of(samples), parameters);
  EXPECT_EQ(survey.pages[0], 384u);
  EXPECT_EQ(survey.pages[1], 128u);
  EXPECT_EQ(survey.mass[0], 3 * survey.mass[1]);
}

TEST(LeafSurvey, AStreamsAccessesWeighLess) {
  std::vector<Leaf> leaves = leaves_of(2, 512);
  const std::array<LeafSample, 2> samples = {
      LeafSample{.leaf = 0, .touched = 50, .steps = 40, .steps_near = 40},
      LeafSample{.leaf = 1, .touched = 50, .steps = 40, .steps_near = 2}};
  SurveyInput input = input_of(samples);
  input.kind = SampleKind::counts;
  Survey survey = survey_leaves(leaves, input, parameters);
  EXPECT_NEAR(static_cast<double>(survey.mass[1]) / static_cast<double>(survey.mass[0]), 8, 0.1);
  Parameters blind = parameters;
  blind.mechanisms.stream_test = false;
  leaves = leaves_of(2, 512);
  survey = survey_leaves(leaves, input, blind);
  EXPECT_EQ(survey.mass[0], survey.mass[1]);
}

TEST(LeafSurvey, WhatWasNotListedFadesOnlyIfItWasSeen) {
  std::vector<Leaf> leaves = leaves_of(1, 512);
  const std::array<LeafSample, 1> samples = {LeafSample{.leaf = 0, .touched = 50}};
  (void)survey_leaves(leaves, input_of(samples), parameters);
  const Rate before = leaves[0].rate_short;
  SurveyInput blind = input_of({});
  blind.coverage = Coverage::listed_only;
  (void)survey_leaves(leaves, blind, parameters);
  EXPECT_EQ(leaves[0].rate_short, before);
  (void)survey_leaves(leaves, input_of({}), parameters);
  EXPECT_LT(leaves[0].rate_short, before);
}

TEST(LeafSurvey, ScansInWhichATierWasEarnedAreCounted) {
  std::vector<Leaf> leaves = leaves_of(2, 512);
  const std::array<LeafSample, 1> samples = {LeafSample{.leaf = 1, .touched = 50}};
  SurveyInput input = input_of(samples);
  input.earned_from[0] = Rate{1};
  for (int i = 1; i <= 3; ++i) {
    (void)survey_leaves(leaves, input, parameters);
    EXPECT_EQ(leaves[1].epochs, i);
    EXPECT_EQ(leaves[1].wish, 0);
  }
  input.earned_from[0] = Rate{0xffff};
  (void)survey_leaves(leaves, input, parameters);
  EXPECT_EQ(leaves[1].epochs, 0);
}

TEST(LeafSurvey, FillsTiersFromTheHottestDown) {
  std::printf("seed 23\n");
  std::mt19937_64 random(23);
  for (int round = 0; round < 200; ++round) {
    Survey survey;
    std::uint64_t pages = 0;
    std::uint64_t mass = 0;
    for (std::size_t bin = 0; bin < rate_bins; ++bin) {
      survey.bin_pages[bin] = random() % 1000;
      survey.bin_mass[bin] = survey.bin_pages[bin] * (bin * bin);
      pages += survey.bin_pages[bin];
      mass += survey.bin_mass[bin];
    }
    const std::array<std::uint64_t, tiers_max> room = {random() % pages, random() % pages, pages};
    const CapacityFill fill = fill_tiers(survey, room, 3);
    EXPECT_LE(fill.mass_max[0] + fill.mass_max[1] + fill.mass_max[2], mass);
    EXPECT_GE(fill.earned_from[0], fill.earned_from[1]);
    // No choice of as many pages carries more than the hottest ones: count them down.
    std::uint64_t left = room[0];
    double most = 0;
    for (std::size_t bin = rate_bins; bin-- > 0 && left > 0;) {
      const std::uint64_t taken = std::min(left, survey.bin_pages[bin]);
      most += static_cast<double>(taken * bin * bin);
      left -= taken;
    }
    EXPECT_LE(static_cast<double>(fill.mass_max[0]), most);
    EXPECT_GE(static_cast<double>(fill.mass_max[0]), most * 0.99);
  }
}

}  // namespace
}  // namespace cxltier
