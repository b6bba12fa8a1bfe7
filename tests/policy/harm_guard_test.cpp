// SPDX-License-Identifier: Apache-2.0
//
// Holds what does not pay, lets go of what does, and measures what running is worth.
#include "policy/harm_guard.h"

#include <gtest/gtest.h>

namespace cxltier {
namespace {

const Parameters parameters = preset_of(PolicyKind::balance);

// A second each: `moves` of which some undid earlier ones, and what they saved and cost.
class Guarded {
 public:
  GuardState pass(int ticks, GuardInput each, const Parameters& with = parameters) {
    GuardState state = guard.state();
    for (int i = 0; i < ticks; ++i) {
      now = now + seconds(1);
      each.now = now;
      each.elapsed = seconds(1);
      state = guard.observe(each, with);
    }
    return state;
  }
  HarmGuard guard;
  Nanoseconds now = seconds(10);
};

constexpr GuardInput paying{.saved_ns = 50'000'000, .spent_ns = 10'000'000, .moves = 10};
constexpr GuardInput losing{.saved_ns = 1'000'000, .spent_ns = 10'000'000, .moves = 10};

TEST(HarmGuard, MovesThatPayGoOn) {
  Guarded on;
  EXPECT_EQ(on.pass(200, paying), GuardState::run);
  EXPECT_EQ(on.guard.holds(), 0u);
}

TEST(HarmGuard, MovesThatCostMoreThanTheySaveAreHeldAfterAWindow) {
  Guarded on;
  EXPECT_EQ(on.pass(30, losing), GuardState::run);
  EXPECT_EQ(on.pass(1, losing), GuardState::hold);
  EXPECT_EQ(on.guard.holds(), 1u);
}

TEST(HarmGuard, ThrashingIsHeldEvenIfItSeemsToPay) {
  Guarded on;
  GuardInput thrashing = paying;
  thrashing.reversals = 3;
  EXPECT_EQ(on.pass(31, thrashing), GuardState::hold);
}

TEST(HarmGuard, AHoldEndsAndTheNextIsLonger) {
  Guarded on;
  on.pass(31, losing);
  EXPECT_EQ(on.pass(59, {}), GuardState::hold);
  EXPECT_EQ(on.pass(2, {}), GuardState::run);
  on.pass(31, losing);
  EXPECT_EQ(on.guard.holds(), 2u);
  EXPECT_EQ(on.pass(100, {}), GuardState::hold);
  EXPECT_EQ(on.pass(30, {}), GuardState::run);
}

TEST(HarmGuard, AChangeReleasesAtOnce) {
  Guarded on;
  on.pass(31, losing);
  on.guard.release();
  EXPECT_EQ(on.guard.state(), GuardState::run);
}

TEST(HarmGuard, AFewMovesSayNothing) {
  Guarded on;
  GuardInput few = losing;
  few.moves = 0;
  EXPECT_EQ(on.pass(200, few), GuardState::run);
}

TEST(HarmGuard, SwitchedOffItOnlyCounts) {
  Parameters off = parameters;
  off.mechanisms.guard = false;
  Guarded on;
  EXPECT_EQ(on.pass(200, losing, off), GuardState::run);
  EXPECT_EQ(on.guard.spent_ns(), 200u * 10'000'000u);
}

TEST(HarmGuard, FreezeWindowsMeasureTheGainAndItsBound) {
  Guarded on;
  for (int round = 0; round < 4; ++round) {
    GuardInput running = paying;
    running.speed = 1'100;
    while (on.pass(1, running) != GuardState::freeze) ASSERT_LT(on.now, seconds(3'000));
    GuardInput frozen{.speed = 1'000};
    int ticks = 0;
    while (on.pass(1, frozen) == GuardState::freeze) ++ticks;
    EXPECT_LE(ticks, 5);
  }
  EXPECT_NEAR(on.guard.gain_permille(), 100, 2);
  EXPECT_GT(on.guard.gain_bound_permille(), 0);
  EXPECT_LE(on.guard.gain_bound_permille(), 5);
}

TEST(HarmGuard, OneWindowBoundsNothing) {
  Guarded on;
  GuardInput running = paying;
  running.speed = 1'000;
  on.pass(320, running);
  EXPECT_EQ(on.guard.gain_bound_permille(), 0);
}

}  // namespace
}  // namespace cxltier
