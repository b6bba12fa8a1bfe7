// SPDX-License-Identifier: Apache-2.0
//
// Carrying out moves on a fake process, and what the kernel may answer.
#include "runtime/mover/mover.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "tests/fakes/fake_process.h"

namespace cxltier {
namespace {

using fakes::FakeProcess;
using fakes::page_bytes;

constexpr std::uintptr_t base = 0x7f0000000000;
constexpr TierIndex dram{0};
constexpr TierIndex cxl{1};

class MoverTest : public testing::Test {
 protected:
  void touch(std::uint64_t from, std::uint64_t to, int node) {
    for (std::uint64_t i = from; i < to; ++i) process.touch(base + i * page_bytes, node);
  }
  ExtentMove move_of(std::uint32_t pages, Direction direction, TierIndex to) const {
    return {{{base / page_bytes}, pages}, direction, to, {pages}};
  }
  std::uint64_t refused(const MoveOutcome& outcome, Refusal why) const {
    return outcome.refused_by[static_cast<std::size_t>(why)];
  }

  FakeProcess process;
  const NodeTiers tiers{process.machine(), assign_tiers(process.machine(), {})};
  Mover mover{{process, process}, {page_bytes}};
  std::vector<NodeRoom> rooms{
      {NodeId{0}, dram, {100}}, {NodeId{1}, dram, {5000}}, {NodeId{2}, cxl, {100000}}};
  std::atomic<bool> stop{false};
};

TEST_F(MoverTest, MovesWhatIsElsewhereAndLeavesTheRest) {
  touch(0, 300, 2);
  touch(300, 400, 0);

  const MoveOutcome outcome =
      mover.carry_out(move_of(500, Direction::promote, dram), tiers, rooms, stop);

  EXPECT_EQ(outcome.moved.count, 300u);
  EXPECT_EQ(outcome.refused.count, 0u);
  EXPECT_EQ(process.pages_on(2), 0u);
  EXPECT_EQ(process.pages_on(1), 300u);  // the DRAM node with most room
  EXPECT_EQ(process.pages_on(0), 100u);
  EXPECT_EQ(rooms[1].free.count, 4700u);
}

TEST_F(MoverTest, MovesNoMoreThanThePlanExpects) {
  touch(0, 300, 0);
  ExtentMove move = move_of(300, Direction::demote, cxl);
  move.pages_max = {120};
  EXPECT_EQ(mover.carry_out(move, tiers, rooms, stop).moved.count, 120u);
  EXPECT_EQ(process.pages_on(2), 120u);
}

TEST_F(MoverTest, CountsRefusalsByReason) {
  touch(0, 10, 2);
  process.pages()[base + 3 * page_bytes].move_error = EBUSY;
  process.pages()[base + 4 * page_bytes].move_error = EFAULT;

  const MoveOutcome outcome =
      mover.carry_out(move_of(10, Direction::promote, dram), tiers, rooms, stop);

  EXPECT_EQ(outcome.moved.count, 8u);
  EXPECT_EQ(outcome.refused.count, 2u);
  EXPECT_EQ(refused(outcome, Refusal::busy), 1u);
  EXPECT_EQ(refused(outcome, Refusal::unmovable), 1u);
}

TEST_F(MoverTest, LeavesPagesThatAForkChildShares) {
  touch(0, 10, 2);
  process.has_child = true;
  const MoveOutcome outcome =
      mover.carry_out(move_of(10, Direction::promote, dram), tiers, rooms, stop);
  EXPECT_EQ(refused(outcome, Refusal::shared), 10u);
  EXPECT_EQ(process.pages_on(2), 10u);
}

// The kernel answers for the page at which it ran out and for none after it.
TEST_F(MoverTest, BelievesANodeThatSaysItIsFull) {
  touch(0, 600, 2);
  process.nodes[1] = {200, 0};
  process.nodes[0] = {0, 0};

  const MoveOutcome outcome =
      mover.carry_out(move_of(600, Direction::promote, dram), tiers, rooms, stop);

  EXPECT_EQ(outcome.moved.count, 200u + 0u);
  EXPECT_GT(refused(outcome, Refusal::no_memory), 0u);
  EXPECT_EQ(rooms[1].free.count, 0u);
  EXPECT_EQ(process.pages_on(1), 200u);
}

TEST_F(MoverTest, RefusesWhereNoNodeHasRoom) {
  touch(0, 50, 2);
  rooms[0].free = rooms[1].free = {0};
  const MoveOutcome outcome =
      mover.carry_out(move_of(50, Direction::promote, dram), tiers, rooms, stop);
  EXPECT_EQ(outcome.moved.count, 0u);
  EXPECT_EQ(refused(outcome, Refusal::no_memory), 50u);
}

TEST_F(MoverTest, StopsBetweenBatches) {
  touch(0, 2000, 2);
  stop = true;
  EXPECT_EQ(mover.carry_out(move_of(2000, Direction::promote, dram), tiers, rooms, stop).moved,
            Pages{0});
}

TEST_F(MoverTest, NeverTouchesPagesOnNodesThatAreNoTier) {
  touch(0, 10, 2);
  TierMap without_cxl = assign_tiers(process.machine(), {});
  without_cxl.tier_of[2] = tier_none;
  const NodeTiers others(process.machine(), without_cxl);
  EXPECT_EQ(mover.carry_out(move_of(10, Direction::promote, dram), others, rooms, stop).moved,
            Pages{0});
}

// Whichever call fails: nothing is lost, and what is counted as moved has moved.
TEST_F(MoverTest, TellsTheTruthWhicheverCallFails) {
  for (std::uint64_t at = 1;; ++at) {
    FakeProcess victim;
    for (std::uint64_t i = 0; i < 1500; ++i) victim.touch(base + i * page_bytes, 2);
    victim.faults.at = at;
    Mover another({victim, victim}, {page_bytes});
    std::vector<NodeRoom> room{{NodeId{0}, dram, {100000}}};

    const MoveOutcome outcome =
        another.carry_out(move_of(1500, Direction::promote, dram), tiers, room, stop);

    ASSERT_EQ(victim.pages_on(0), outcome.moved.count) << "call " << at;
    ASSERT_EQ(victim.pages().size(), 1500u);
    if (victim.faults.calls < at) break;
  }
}

TEST(RefusalOf, KnowsWhatTheKernelAnswers) {
  EXPECT_EQ(refusal_of(EACCES), Refusal::shared);
  EXPECT_EQ(refusal_of(EBUSY), Refusal::busy);
  EXPECT_EQ(refusal_of(EAGAIN), Refusal::busy);
  EXPECT_EQ(refusal_of(ENOMEM), Refusal::no_memory);
  EXPECT_EQ(refusal_of(ENOENT), Refusal::absent);
  EXPECT_EQ(refusal_of(EPERM), Refusal::forbidden);
  EXPECT_EQ(refusal_of(ENODEV), Refusal::forbidden);
  EXPECT_EQ(refusal_of(EMFILE), Refusal::other);
}

}  // namespace
}  // namespace cxltier
