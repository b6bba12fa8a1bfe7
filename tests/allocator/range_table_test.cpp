// SPDX-License-Identifier: Apache-2.0
//
// The table must say exactly what was added and not removed, whatever the cuts, and must not lose
// track when threads cut one recorded range at the same time.
#include "allocator/range_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace cxltier::heap {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::uintptr_t base = 0x7000'0000'0000;

Range pages(std::uintptr_t first, std::uintptr_t count) {
  return {base + first * page, base + (first + count) * page};
}

std::vector<Range> content(const RangeTable& table) {
  std::vector<Range> ranges(ranges_max);
  ranges.resize(table.copy(ranges));
  return ranges;
}

std::uint64_t total(const std::vector<Range>& ranges) {
  std::uint64_t sum = 0;
  for (const Range& range : ranges) sum += range.end - range.begin;
  return sum;
}

// The runs of a set of page numbers: what a table with these pages must say.
std::vector<Range> runs_of(const std::set<std::uintptr_t>& numbers) {
  std::vector<Range> runs;
  for (const std::uintptr_t number : numbers) {
    const Range one = pages(number, 1);
    if (!runs.empty() && runs.back().end == one.begin) {
      runs.back().end = one.end;
    } else {
      runs.push_back(one);
    }
  }
  return runs;
}

class RangeTableTest : public testing::Test {
 protected:
  std::unique_ptr<RangeTable> table_ = std::make_unique<RangeTable>();
};

TEST_F(RangeTableTest, HoldsNothingAtFirst) {
  EXPECT_TRUE(content(*table_).empty());
  EXPECT_EQ(table_->bytes(), 0u);
  EXPECT_EQ(table_->lost(), 0u);
}

TEST_F(RangeTableTest, SortsAndMergesWhatIsAdjacent) {
  table_->add(pages(100, 10));
  table_->add(pages(0, 10));
  table_->add(pages(20, 10));
  table_->add(pages(10, 10));  // closes the gap between the two before

  EXPECT_EQ(content(*table_), (std::vector<Range>{pages(0, 30), pages(100, 10)}));
  EXPECT_EQ(table_->bytes(), 40 * page);
}

TEST_F(RangeTableTest, CutsFrontBackAndMiddle) {
  table_->add(pages(0, 100));

  table_->remove(pages(0, 10));
  table_->remove(pages(90, 10));
  table_->remove(pages(40, 20));

  EXPECT_EQ(content(*table_), (std::vector<Range>{pages(10, 30), pages(60, 30)}));
  EXPECT_EQ(table_->bytes(), 60 * page);
}

TEST_F(RangeTableTest, RemovesAcrossSeveralRanges) {
  table_->add(pages(0, 10));
  table_->add(pages(20, 10));
  table_->add(pages(10, 10));

  table_->remove(pages(5, 20));

  EXPECT_EQ(content(*table_), (std::vector<Range>{pages(0, 5), pages(25, 5)}));
}

TEST_F(RangeTableTest, HoldsNothingAfterEverythingIsRemoved) {
  table_->add(pages(0, 100));
  table_->remove(pages(40, 20));

  table_->remove(pages(0, 40));
  table_->remove(pages(60, 40));

  EXPECT_TRUE(content(*table_).empty());
  EXPECT_EQ(table_->bytes(), 0u);
}

TEST_F(RangeTableTest, FillsAShortSpanAndNoMore) {
  for (std::uintptr_t i = 0; i < 5; ++i) table_->add(pages(i * 10, 1));
  std::vector<Range> out(3);

  EXPECT_EQ(table_->copy(out), 3u);
  EXPECT_TRUE(std::is_sorted(out.begin(), out.end(),
                             [](const Range& a, const Range& b) { return a.end <= b.begin; }));
}

TEST_F(RangeTableTest, HoldsARangeLongerThanASlot) {
  const std::uintptr_t grains = std::uintptr_t{5} << 28;  // 5 TiB

  table_->add(pages(0, grains));
  EXPECT_EQ(content(*table_), std::vector<Range>{pages(0, grains)});

  table_->remove(pages(1, grains - 2));
  EXPECT_EQ(content(*table_), (std::vector<Range>{pages(0, 1), pages(grains - 1, 1)}));
}

TEST_F(RangeTableTest, CountsWhatFindsNoSlotAndUsesFreedSlotsAgain) {
  for (std::uintptr_t i = 0; i < ranges_max + 7; ++i) table_->add(pages(i * 2, 1));
  EXPECT_EQ(table_->lost(), 7u);
  EXPECT_EQ(content(*table_).size(), ranges_max);
  EXPECT_EQ(table_->bytes(), (ranges_max + 7) * page);

  table_->remove(pages(0, 1));
  table_->add(pages(ranges_max * 4, 1));

  EXPECT_EQ(table_->lost(), 7u);
  EXPECT_EQ(content(*table_).back(), pages(ranges_max * 4, 1));
}

TEST_F(RangeTableTest, CountsAnAddressBeyondItsReach) {
  const Range beyond{std::uintptr_t{1} << 50, (std::uintptr_t{1} << 50) + page};

  table_->add(beyond);

  EXPECT_EQ(table_->lost(), 1u);
  EXPECT_EQ(table_->bytes(), page);
  EXPECT_TRUE(content(*table_).empty());
}

// Random adds and removes of page runs against a set of page numbers.
TEST_F(RangeTableTest, AgreesWithASetOfPages) {
  const unsigned seed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::set<std::uintptr_t> model;
  for (int step = 0; step < 3000; ++step) {
    const std::uintptr_t first = random() % 400;
    const std::uintptr_t count = 1 + random() % 20;
    std::vector<std::uintptr_t> present;
    for (std::uintptr_t i = first; i < first + count; ++i) {
      if (model.count(i) != 0) present.push_back(i);
    }
    if (present.empty()) {
      table_->add(pages(first, count));
      for (std::uintptr_t i = first; i < first + count; ++i) model.insert(i);
    } else if (present.size() == count) {
      table_->remove(pages(first, count));
      for (const std::uintptr_t number : present) model.erase(number);
    }
    ASSERT_EQ(content(*table_), runs_of(model)) << "step " << step;
  }
}

// Each thread cuts and restores its own window of one range that was added as a whole, so that the
// cuts of different threads meet in the same slots.
TEST_F(RangeTableTest, KeepsEveryThreadsCuts) {
  constexpr std::uintptr_t window = 64;
  constexpr unsigned thread_count = 4;
  table_->add(pages(0, window * thread_count));
  std::vector<std::set<std::uintptr_t>> models(thread_count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t) {
    threads.emplace_back([&table = *table_, &model = models[t], t] {
      std::mt19937 random(t + 1);
      for (std::uintptr_t i = 0; i < window; ++i) model.insert(t * window + i);
      for (int step = 0; step < 20000; ++step) {
        const std::uintptr_t number = t * window + random() % window;
        if (model.erase(number) != 0) {
          table.remove(pages(number, 1));
        } else {
          table.add(pages(number, 1));
          model.insert(number);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::set<std::uintptr_t> all;
  for (const auto& model : models) all.insert(model.begin(), model.end());
  EXPECT_EQ(content(*table_), runs_of(all));
  EXPECT_EQ(table_->bytes(), all.size() * page);
  EXPECT_EQ(table_->lost(), 0u);
  EXPECT_EQ(total(content(*table_)), table_->bytes());
}

}  // namespace
}  // namespace cxltier::heap
