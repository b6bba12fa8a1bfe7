// SPDX-License-Identifier: Apache-2.0
//
// The planner on maps small enough to plan by hand, one mechanism at a time.
//
// Tests named ...OrElse run the same map with the mechanism's parameter neutral and expect the
// other outcome, so that the mechanism, and nothing else, is what they see.
#include "policy/planner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cxltier {
namespace {

constexpr TierIndex fast{0};
constexpr TierIndex slow{1};
constexpr TierIndex slowest{2};
constexpr Nanoseconds now = seconds(1000);
constexpr std::uint64_t plenty = 1'000'000;

Parameters hot_cold() { return preset_of(PolicyKind::hot_cold); }

// A map, built region by region, each well known and long in its place.
class Map {
 public:
  Map& add(double heat, Residence resident) {
    const auto value = static_cast<std::uint16_t>(std::lround(heat * heat_max));
    Region region{.first_page = {end_},
                  .page_count = 0,
                  .resident = resident,
                  .heat_short = {value},
                  .heat_long = {value},
                  .scans = 10,
                  .wish = fast,
                  .epochs_hot = 10};
    region.page_count = static_cast<std::uint32_t>(resident_pages(region).count);
    end_ += region.page_count;
    regions.push_back(region);
    return *this;
  }

  [[nodiscard]] Limits limits(std::vector<std::uint64_t> capacities) const {
    Limits limits{.tier_count = static_cast<std::uint8_t>(capacities.size()),
                  .moved_max = {plenty},
                  .now = now};
    for (std::size_t t = 0; t < capacities.size(); ++t) {
      for (const Region& region : regions) limits.tiers[t].used.count += region.resident[t];
      limits.tiers[t].capacity = {capacities[t]};
    }
    return limits;
  }

  std::vector<Move> plan(const Limits& limits, const Parameters& parameters) {
    std::vector<Rank> ranks(regions.size());
    std::vector<Move> moves(regions.size());
    rank_regions(regions, limits, parameters, ranks);
    moves.resize(plan_moves(regions, limits, parameters, moves, ranks));
    return moves;
  }

  std::vector<Region> regions;

 private:
  std::uint64_t end_ = 1000;
};

TEST(Planner, SwapsAHotRegionForAColdOneAndDemotesFirst) {
  Map map;
  map.add(0.01, {100, 0}).add(0.9, {0, 100});
  const std::vector<Move> moves = map.plan(map.limits({102, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].region, 0u);
  EXPECT_EQ(moves[0].direction, Direction::demote);
  EXPECT_EQ(moves[0].to, slow);
  EXPECT_EQ(moves[0].pages_expected.count, 100u);
  EXPECT_EQ(moves[1].region, 1u);
  EXPECT_EQ(moves[1].direction, Direction::promote);
  EXPECT_EQ(moves[1].to, fast);
  EXPECT_EQ(moves[1].first_page, map.regions[1].first_page);
  EXPECT_EQ(moves[1].page_count, 100u);
}

TEST(Planner, CountsPagesOfMixedRegions) {
  // Four regions dealt 1:3; one may be on the fast tier. The hot one misses 75 pages, and the three
  // others have 25 each.
  Map map;
  for (const double heat : {0.0, 0.9, 0.0, 0.0}) map.add(heat, {25, 75});
  Limits limits = map.limits({102, plenty});
  const std::vector<Move> moves = map.plan(limits, hot_cold());
  ASSERT_EQ(moves.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(moves[i].pages_expected.count, 25u);
  EXPECT_EQ(moves[3].region, 1u);
  EXPECT_EQ(moves[3].pages_expected.count, 75u);
}

TEST(Planner, FirstTouchMovesNothingEvenOverALimit) {
  Map map;
  map.add(0.0, {100, 0}).add(0.9, {0, 100});
  EXPECT_TRUE(map.plan(map.limits({10, plenty}), preset_of(PolicyKind::first_touch)).empty());
}

TEST(Planner, OneTierNeedsNoPlan) {
  Map map;
  map.add(0.9, {100});
  EXPECT_TRUE(map.plan(map.limits({10}), hot_cold()).empty());
  EXPECT_TRUE(map.plan(map.limits({}), hot_cold()).empty());
}

TEST(Planner, NothingIsDemotedButToMakeRoom) {
  Map map;
  map.add(0.0, {100, 0}).add(0.9, {100, 0});
  EXPECT_TRUE(map.plan(map.limits({plenty, plenty}), hot_cold()).empty());
}

TEST(Planner, HysteresisKeepsANearlyEqualRegionOutOrElseItSwaps) {
  Map map;
  map.add(0.50, {100, 0}).add(0.55, {0, 100});
  const Limits limits = map.limits({102, plenty});
  Parameters neutral = hot_cold();
  neutral.margin_share_256 = neutral.margin_sigma_16 = 0;
  neutral.margin_min = {};
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  EXPECT_EQ(map.plan(limits, neutral).size(), 2u);
}

TEST(Planner, PersistenceDelaysTheFirstPromotionOrElseItIsAtOnce) {
  Map map;
  map.add(0.01, {100, 0}).add(0.9, {0, 100});
  map.regions[1].wish = slow;
  map.regions[1].epochs_hot = 0;
  Parameters neutral = hot_cold();
  neutral.epochs_hot_min = 0;
  const Limits limits = map.limits({102, plenty});
  Map other = map;
  EXPECT_EQ(other.plan(limits, neutral).size(), 2u);
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());   // epoch 1
  EXPECT_EQ(map.plan(limits, hot_cold()).size(), 2u);  // epoch 2
}

TEST(Planner, OneSampleOutOfTheTopSetStartsPersistenceAnew) {
  Map map;
  map.add(0.01, {100, 0}).add(0.9, {0, 100});
  map.regions[1].wish = slow;
  map.regions[1].epochs_hot = 0;
  const Limits limits = map.limits({102, plenty});
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  map.regions[1].heat_short = map.regions[1].heat_long = {};
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  map.regions[1].heat_short = map.regions[1].heat_long = {heat_max};
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  EXPECT_EQ(map.plan(limits, hot_cold()).size(), 2u);
}

TEST(Planner, BackoffKeepsARegionThatJustMovedOrElseItTurns) {
  Map map;
  map.add(0.01, {100, 0}).add(0.9, {0, 100});
  map.regions[1].last_move = Direction::demote;
  map.regions[1].moved_at = now - seconds(3);
  Parameters neutral = hot_cold();
  neutral.reversal_backoff = {};
  const Limits limits = map.limits({102, plenty});
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  EXPECT_EQ(map.plan(limits, neutral).size(), 2u);
}

TEST(Planner, ARefusedRegionIsLeftAloneOrElseTriedAgain) {
  Map map;
  map.add(0.9, {0, 100});
  map.regions[0].refusals = 3;
  map.regions[0].refused_at = now - seconds(3);
  Parameters neutral = hot_cold();
  neutral.refusal_backoff = {};
  const Limits limits = map.limits({plenty, plenty});
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  EXPECT_EQ(map.plan(limits, neutral).size(), 1u);
}

TEST(Planner, WatermarksFreeRoomInAdvanceOrElseTheTierStaysFull) {
  // 995 of 1000 used is beyond free_low (1 %): demote until free_high (2.5 %), which takes 20.
  Map map;
  map.add(0.5, {895, 0});
  for (int i = 0; i < 10; ++i) map.add(0.02, {10, 0});
  Parameters neutral = hot_cold();
  neutral.free_low_permille = neutral.free_high_permille = 0;
  const Limits limits = map.limits({1000, plenty});
  EXPECT_EQ(map.plan(limits, hot_cold()).size(), 2u);
  EXPECT_TRUE(map.plan(limits, neutral).empty());
}

TEST(Planner, BetweenTheWatermarksNothingMoves) {
  Map quiet;
  quiet.add(0.5, {880, 0}).add(0.0, {100, 0});
  EXPECT_TRUE(quiet.plan(quiet.limits({1000, plenty}), hot_cold()).empty());
}

TEST(Planner, PromotionStopsAtTheHighWatermarkOrElseAtTheCapacity) {
  Map map;
  for (int i = 0; i < 20; ++i) map.add(0.9, {0, 50});
  Parameters neutral = hot_cold();
  neutral.free_low_permille = neutral.free_high_permille = 0;
  const Limits limits = map.limits({500, plenty});
  EXPECT_EQ(map.plan(limits, hot_cold()).size(), 10u);  // 9 whole and 38 pages of a tenth
  EXPECT_EQ(map.plan(limits, hot_cold())[9].pages_expected.count, 38u);
  EXPECT_EQ(map.plan(limits, neutral)[9].pages_expected.count, 50u);
}

TEST(Planner, TheBudgetBoundsAllMovesOrElseAllMove) {
  Map map;
  for (int i = 0; i < 8; ++i) map.add(0.9, {0, 50});
  Limits limits = map.limits({plenty, plenty});
  EXPECT_EQ(map.plan(limits, hot_cold()).size(), 8u);
  limits.moved_max = {120};
  const std::vector<Move> moves = map.plan(limits, hot_cold());
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[2].page_count, 20u);
  limits.moved_max = {0};
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
}

TEST(Planner, AMoveThatWasCutGoesOnWhereItStopped) {
  Map map;
  map.add(0.9, {0, 2000});
  Limits limits = map.limits({plenty, plenty});
  limits.moved_max = {1024};
  const std::vector<Move> first = map.plan(limits, hot_cold());
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].page_count, 1024u);
  record_outcome(map.regions[0], first[0], {.moved = {1024}, .refused = {}}, now, hot_cold());
  limits = map.limits({plenty, plenty});
  limits.moved_max = {700};
  const std::vector<Move> second = map.plan(limits, hot_cold());
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].first_page.value, first[0].first_page.value + 1024);
  EXPECT_EQ(second[0].page_count, 512u);  // cut at huge pages
}

TEST(Planner, OverTheLimitTheColdestGoWhateverElseIsSaid) {
  Map map;
  map.add(0.9, {100, 0}).add(0.0, {50, 0}).add(0.3, {50, 0});
  for (Region& region : map.regions) {
    region.last_move = Direction::promote;
    region.moved_at = now;
    region.reversals = 7;
  }
  const std::vector<Move> moves = map.plan(map.limits({120, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].region, 1u);
  EXPECT_EQ(moves[1].region, 2u);
}

TEST(Planner, OverTheLimitEvenUnknownMemoryGoesButKnownFirst) {
  Map map;
  map.add(0.0, {100, 0}).add(0.5, {40, 0});
  map.regions[0].scans = 0;
  EXPECT_EQ(map.plan(map.limits({120, plenty}), hot_cold())[0].region, 1u);
  const std::vector<Move> both = map.plan(map.limits({60, plenty}), hot_cold());
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].region, 0u);
}

TEST(Planner, UnknownMemoryIsNeitherPromotedNorDisplaced) {
  Map map;
  map.add(0.0, {100, 0}).add(0.9, {0, 100});
  Map unknown_victim = map;
  unknown_victim.regions[0].scans = 1;
  EXPECT_TRUE(unknown_victim.plan(map.limits({102, plenty}), hot_cold()).empty());
  map.regions[1].scans = 1;
  EXPECT_TRUE(map.plan(map.limits({102, plenty}), hot_cold()).empty());
}

TEST(Planner, MemoryThatIsNotOursCountsAgainstTheLimit) {
  Map map;
  map.add(0.9, {0, 100});
  Limits limits = map.limits({200, plenty});
  limits.tiers[0].used = {180};
  const std::vector<Move> moves = map.plan(limits, hot_cold());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].pages_expected.count, 15u);  // 200 less 2.5 % less 180
}

TEST(Planner, AFullSlowTierTakesNothing) {
  Map map;
  map.add(0.0, {100, 0}).add(0.0, {0, 100});
  EXPECT_TRUE(map.plan(map.limits({50, 100}), hot_cold()).empty());
  const std::vector<Move> moves = map.plan(map.limits({50, 130}), hot_cold());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].pages_expected.count, 30u);
}

TEST(Planner, TwoFullTiersStillTradePlacesThroughTheReserve) {
  Map map;
  map.add(0.0, {975, 0}).add(0.9, {0, 10});
  std::vector<Move> moves = map.plan(map.limits({1000, 10}), hot_cold());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].direction, Direction::promote);
  EXPECT_EQ(moves[0].region, 1u);
}

TEST(Planner, ThreeTiersFillInOrderOfHeat) {
  Map map;
  map.add(0.9, {0, 0, 100}).add(0.5, {0, 0, 100}).add(0.1, {0, 0, 100});
  const std::vector<Move> moves = map.plan(map.limits({102, 102, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].region, 0u);
  EXPECT_EQ(moves[0].to, fast);
  EXPECT_EQ(moves[1].region, 1u);
  EXPECT_EQ(moves[1].to, slow);
}

TEST(Planner, ADemotionSkipsAFullMiddleTier) {
  Map map;
  map.add(0.1, {100, 0, 0}).add(0.5, {0, 100, 0});
  const std::vector<Move> moves = map.plan(map.limits({0, 100, plenty}), hot_cold());
  // The middle tier is at its capacity, so its own reserve is freed first, then the fast tier.
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].region, 1u);
  EXPECT_EQ(moves[0].to, slowest);
  EXPECT_EQ(moves[1].region, 0u);
}

TEST(Planner, AHotterRegionThanTheTierIsPromotedInPart) {
  Map map;
  map.add(0.9, {0, 100'000});
  const std::vector<Move> moves = map.plan(map.limits({10'000, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].page_count, 9728u);  // 9750, cut at huge pages
}

TEST(Planner, OverTheLimitARefusedRegionIsPassedOver) {
  Map map;
  map.add(0.0, {50, 0}).add(0.5, {50, 0});
  map.regions[0].refusals = 3;
  map.regions[0].refused_at = now - seconds(3);
  const std::vector<Move> moves = map.plan(map.limits({60, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].region, 1u);
}

TEST(Planner, ABudgetThatIsTooSmallForASwapServesBothSides) {
  Map map;
  map.add(0.01, {100, 0}).add(0.9, {0, 100});
  Limits limits = map.limits({102, plenty});
  limits.moved_max = {100};
  const std::vector<Move> moves = map.plan(limits, hot_cold());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].page_count, 50u);
  EXPECT_EQ(moves[1].page_count, 50u);
}

TEST(Planner, ALeftoverOfRoomIsNotFilledPageByPage) {
  // 5 of 1000 usable pages are free, less than 1 % of the capacity, and nobody is colder.
  Map map;
  map.add(0.9, {995, 0}).add(0.8, {0, 100});
  EXPECT_TRUE(map.plan(map.limits({1025, plenty}), hot_cold()).empty());
}

TEST(Planner, RoomThatWasDisplacedForARegionIsFilledEvenInPart) {
  // Only 60 pages are colder than the candidate: less than 1 % of the capacity, and not all it
  // needs.
  Map map;
  map.add(0.9, {9690, 0}).add(0.0, {60, 0}).add(0.8, {0, 100});
  const std::vector<Move> moves = map.plan(map.limits({10'000, plenty}), hot_cold());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].region, 1u);
  EXPECT_EQ(moves[1].region, 2u);
  EXPECT_EQ(moves[1].pages_expected.count, 60u);
}

TEST(RankRegions, OfEqualsTheOneThatIsThereEarnsTheTier) {
  Map map;
  map.add(1.0, {0, 100}).add(1.0, {100, 0});
  EXPECT_TRUE(map.plan(map.limits({102, plenty}), hot_cold()).empty());
  EXPECT_EQ(map.regions[0].wish, slow);
  EXPECT_EQ(map.regions[1].wish, fast);
}

TEST(RankRegions, MemoryThatIsNotOursLeavesLessToEarn) {
  Map map;
  map.add(0.9, {0, 100});
  Limits limits = map.limits({200, plenty});
  limits.tiers[0].used = {200};
  EXPECT_TRUE(map.plan(limits, hot_cold()).empty());
  EXPECT_EQ(map.regions[0].wish, slow);
}

TEST(RankRegions, AFasterWishStartsToCountAnewAndASlowerOneGoesOn) {
  Map map;
  map.add(0.9, {0, 0, 100});
  map.regions[0].wish = slow;
  Limits roomy = map.limits({200, 200, plenty});
  Limits tight = map.limits({0, 200, plenty});
  map.plan(roomy, hot_cold());
  EXPECT_EQ(map.regions[0].wish, fast);
  EXPECT_EQ(map.regions[0].epochs_hot, 1);
  map.plan(tight, hot_cold());
  EXPECT_EQ(map.regions[0].wish, slow);
  EXPECT_EQ(map.regions[0].epochs_hot, 2);
}

TEST(RecordOutcome, ATurnWithinFourBackoffsIsAReversal) {
  Map map;
  map.add(0.9, {100, 0});
  Region& region = map.regions[0];
  const Move down{.first_page = region.first_page,
                  .page_count = 100,
                  .direction = Direction::demote,
                  .to = slow,
                  .pages_expected = {100}};
  const Move up{.first_page = region.first_page,
                .page_count = 100,
                .direction = Direction::promote,
                .to = fast,
                .pages_expected = {100}};
  record_outcome(region, down, {.moved = {100}, .refused = {}}, now, hot_cold());
  EXPECT_EQ(region.reversals, 0);
  EXPECT_EQ(region.resident[1], 100u);
  record_outcome(region, up, {.moved = {100}, .refused = {}}, now + seconds(19), hot_cold());
  EXPECT_EQ(region.reversals, 1);
  record_outcome(region, down, {.moved = {100}, .refused = {}}, now + seconds(58), hot_cold());
  EXPECT_EQ(region.reversals, 2);
  record_outcome(region, up, {.moved = {100}, .refused = {}}, now + seconds(500), hot_cold());
  EXPECT_EQ(region.reversals, 1);
}

TEST(RecordOutcome, RefusalsCountUpAndSuccessClearsThem) {
  Map map;
  map.add(0.9, {0, 100});
  Region& region = map.regions[0];
  const Move up{.first_page = region.first_page,
                .page_count = 100,
                .direction = Direction::promote,
                .to = fast,
                .pages_expected = {100}};
  record_outcome(region, up, {.moved = {}, .refused = {100}}, now, hot_cold());
  record_outcome(region, up, {.moved = {60}, .refused = {40}}, now, hot_cold());
  EXPECT_EQ(region.refusals, 2);
  EXPECT_EQ(region.resident[0], 60u);
  EXPECT_EQ(region.last_move, Direction::promote);
  record_outcome(region, up, {.moved = {40}, .refused = {}}, now, hot_cold());
  EXPECT_EQ(region.refusals, 0);
}

TEST(RecordOutcome, ARefusedMoveIsNoTurn) {
  Map map;
  map.add(0.9, {0, 100});
  const Move up{.first_page = map.regions[0].first_page,
                .page_count = 100,
                .direction = Direction::promote,
                .to = fast,
                .pages_expected = {100}};
  record_outcome(map.regions[0], up, {.moved = {}, .refused = {100}}, now, hot_cold());
  EXPECT_EQ(map.regions[0].last_move, Direction::none);
}

}  // namespace
}  // namespace cxltier
