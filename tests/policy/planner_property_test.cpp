// SPDX-License-Identifier: Apache-2.0
//
// What holds of every plan, on random processes whose pages are known one by one: a plan is carried
// out in order and the tiers are counted after each move, so that a cut move is not taken on trust.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "policy/planner.h"
#include "tests/policy/process_fake.h"

namespace cxltier {
namespace {

using testing::ProcessFake;
using testing::TrueHeat;

struct Case {
  ProcessFake process;
  std::vector<Region> regions;
  Limits limits{};
};

// Regions of 1 to 3000 pages over 2 to 4 tiers; capacities from empty to plenty; any history.
Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t tiers = 2 + random() % 3;
  std::vector<std::uint64_t> capacities;
  for (std::size_t t = 0; t < tiers; ++t) capacities.push_back(random() % 20'000);
  if (random() % 2 == 0) capacities.back() = 1'000'000;
  Case made{.process = ProcessFake(seed, capacities), .regions = {}};
  for (std::uint64_t i = 1 + random() % 60; i > 0; --i) {
    std::vector<std::uint8_t> deal;
    for (int k = 0; k < 4; ++k) {
      deal.push_back(random() % 8 == 0 ? std::uint8_t{tiers_max}
                                       : static_cast<std::uint8_t>(random() % tiers));
    }
    const std::uint64_t pages = random() % 10 == 0 ? random() % 3000 : random() % 300;
    made.process.add(static_cast<std::uint32_t>(1 + pages),
                     static_cast<double>(random() % 1000) / 300, TrueHeat::cold, deal);
  }
  const std::vector<Observation> seen = made.process.scan(1, 0.1);
  made.regions.resize(seen.size());
  update_regions({}, seen, seconds(1), made.regions);
  for (Region& region : made.regions) {
    region.scans = static_cast<std::uint8_t>(random() % 5);
    region.wish = static_cast<TierIndex>(random() % tiers);
    region.epochs_hot = static_cast<std::uint16_t>(random() % 4);
    region.last_move = static_cast<Direction>(random() % 3);
    region.moved_at = seconds(random() % 100);
    region.reversals = static_cast<std::uint8_t>(random() % 6);
    region.refusals = random() % 10 == 0 ? 1 : 0;
    region.refused_at = seconds(100);
    region.next_offset = static_cast<std::uint32_t>(random() % region.page_count);
  }
  made.limits = made.process.limits(random() % 8'000, seconds(100));
  return made;
}

std::vector<Move> plan(Case& c, std::size_t moves_max) {
  const Parameters parameters = preset_of(PolicyKind::hot_cold);
  std::vector<Rank> ranks(c.regions.size());
  std::vector<Move> moves(moves_max);
  rank_regions(c.regions, c.limits, parameters, ranks);
  moves.resize(plan_moves(c.regions, c.limits, parameters, moves, ranks));
  return moves;
}

bool is_over_a_limit(const ProcessFake& process, const Limits& limits) {
  for (std::size_t t = 0; t + 1 < limits.tier_count; ++t) {
    if (process.used(t) > process.capacity(t)) return true;
  }
  return false;
}

class PlannerProperty : public ::testing::Test {
 protected:
  // Runs a property over many seeds; each failure names its seed.
  template <typename Property>
  void for_each_case(Property property) {
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      Case c = random_case(seed);
      property(c);
      if (HasFailure()) return;
    }
  }
};

TEST_F(PlannerProperty, MovesAreDisjointAndDemotionsComeFirst) {
  for_each_case([](Case& c) {
    const std::vector<Move> moves = plan(c, c.regions.size());
    std::vector<bool> is_moved(c.regions.size());
    bool has_promoted = false;
    for (const Move& move : moves) {
      ASSERT_LT(move.region, c.regions.size());
      EXPECT_FALSE(is_moved[move.region]);
      is_moved[move.region] = true;
      has_promoted |= move.direction == Direction::promote;
      EXPECT_FALSE(has_promoted && move.direction == Direction::demote);
      const Region& region = c.regions[move.region];
      EXPECT_GT(move.page_count, 0u);
      EXPECT_GE(move.first_page, region.first_page);
      EXPECT_LE(move.first_page.value + move.page_count,
                region.first_page.value + region.page_count);
      EXPECT_LT(index_of(move.to), c.limits.tier_count);
    }
  });
}

TEST_F(PlannerProperty, NoTierPassesItsCapacityAndTheBudgetHolds) {
  for_each_case([](Case& c) {
    const std::vector<Move> moves = plan(c, c.regions.size());
    std::uint64_t moved = 0;
    std::uint64_t expected = 0;
    for (const Move& move : moves) {
      const std::size_t to = index_of(move.to);
      const std::uint64_t pages = c.process.carry_out(move);
      const bool is_whole = move.page_count == c.regions[move.region].page_count;
      EXPECT_LE(pages, move.pages_expected.count);
      if (is_whole) {
        EXPECT_EQ(pages, move.pages_expected.count);
      }
      if (pages > 0) {
        EXPECT_LE(c.process.used(to), c.process.capacity(to));
      }
      moved += pages;
      expected += move.pages_expected.count;
    }
    EXPECT_LE(moved, expected);
    EXPECT_LE(expected, c.limits.moved_max.count);
  });
}

TEST_F(PlannerProperty, SameArgumentsSameMoves) {
  for_each_case([](Case& c) {
    Case again = c;
    const std::vector<Move> first = plan(c, c.regions.size());
    const std::vector<Move> second = plan(again, c.regions.size());
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].region, second[i].region);
      EXPECT_EQ(first[i].first_page, second[i].first_page);
      EXPECT_EQ(first[i].page_count, second[i].page_count);
      EXPECT_EQ(first[i].to, second[i].to);
    }
  });
}

TEST_F(PlannerProperty, AShortOutputIsNeverOverrun) {
  for_each_case([](Case& c) {
    const std::size_t most = c.regions.size() / 4;
    EXPECT_LE(plan(c, most).size(), most);
  });
}

TEST_F(PlannerProperty, RanksHoldEachRegionOnceHottestFirst) {
  for_each_case([](Case& c) {
    std::vector<Rank> ranks(c.regions.size());
    rank_regions(c.regions, c.limits, preset_of(PolicyKind::hot_cold), ranks);
    std::vector<bool> is_ranked(c.regions.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_FALSE(is_ranked[ranks[i].region]);
      is_ranked[ranks[i].region] = true;
      EXPECT_EQ(ranks[i].score, score_of(c.regions[ranks[i].region]));
      if (i > 0) {
        EXPECT_LE(ranks[i].score, ranks[i - 1].score);
      }
    }
  });
}

// Over a limit, with room below and no refusals, each tick must come closer.  A part of a region is
// moved at a place that is only guessed, so progress is counted over a few ticks.
TEST_F(PlannerProperty, OverALimitAlwaysMakesProgressUntilItIsUnder) {
  std::size_t cases_over = 0;
  for_each_case([&cases_over](Case& c) {
    if (c.limits.moved_max.count < 64) return;
    c.limits.tiers[c.limits.tier_count - 1u].capacity = {10'000'000};
    if (!is_over_a_limit(c.process, c.limits)) return;
    ++cases_over;
    for (Region& region : c.regions) region.refusals = 0;
    int ticks = 0;
    for (; ticks < 6000 && is_over_a_limit(c.process, c.limits); ++ticks) {
      const std::vector<Move> moves = plan(c, c.regions.size());
      ASSERT_FALSE(moves.empty());
      for (const Move& move : moves) {
        const MoveCounts counts{.moved = {c.process.carry_out(move)}, .refused = {}};
        record_outcome(c.regions[move.region], move, counts, c.limits.now,
                       preset_of(PolicyKind::hot_cold));
      }
      const std::vector<Observation> seen = c.process.scan(1, 0.1);
      for (std::size_t i = 0; i < seen.size(); ++i) c.regions[i].resident = seen[i].resident;
      for (std::size_t t = 0; t + 1 < c.limits.tier_count; ++t) {
        c.limits.tiers[t].used = {c.process.used(t)};
      }
      c.limits.now = c.limits.now + seconds(1);
    }
    EXPECT_FALSE(is_over_a_limit(c.process, c.limits)) << ticks << " ticks";
  });
  EXPECT_GT(cases_over, 100u);
}

}  // namespace
}  // namespace cxltier
