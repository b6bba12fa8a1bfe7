// SPDX-License-Identifier: Apache-2.0
//
// The pure parts of redis_demo: placements, settling, checks, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/redis_demo/failure.h"
#include "bench/redis_demo/options.h"
#include "bench/redis_demo/placement.h"
#include "bench/redis_demo/report.h"
#include "bench/redis_demo/row_result.h"
#include "bench/redis_demo/runtime_figures.h"

namespace cxltier::demo {
namespace {

std::vector<PageAddress> pages_from(std::uint64_t first, std::uint64_t count) {
  std::vector<PageAddress> pages;
  for (std::uint64_t i = 0; i < count; ++i) pages.push_back((first + i) * page_size);
  return pages;
}

Window window_of(double requests_per_s, std::uint64_t pages_moved) {
  Window window;
  window.load.requests_per_s = requests_per_s;
  window.pages_moved = pages_moved;
  return window;
}

RowResult row_of(const std::string& name, double requests_per_s) {
  RowResult row;
  row.name = name;
  row.windows.push_back(window_of(requests_per_s, 0).load);
  row.digest = "d1";
  return row;
}

// Rows that hold every check; each test breaks one thing.
std::vector<RowResult> good_rows() {
  std::vector<RowResult> rows = {row_of("by_hand", 1000), row_of("static_split", 425),
                                 row_of("cxltier", 850)};
  rows[2].dram_bytes = 102;
  rows[2].hot_dram_page_share = 0.97;
  return rows;
}

std::vector<std::string> failed_checks(const std::vector<RowResult>& rows) {
  std::vector<std::string> names;
  for (const Check& check : run_checks(rows, 100)) {
    if (!check.ok) names.push_back(check.name);
  }
  return names;
}

Options options_of(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return parse_options(static_cast<int>(pointers.size()), pointers.data());
}

TEST(Placement, SplitDealsEveryFourthPageToDram) {
  const auto pages = pages_from(100, 10);
  const Placement placement = place_split(pages);
  EXPECT_EQ(placement.dram, (std::vector<PageAddress>{pages[0], pages[4], pages[8]}));
  EXPECT_EQ(placement.cxl.size(), 7U);
}

TEST(Placement, HandKeepsTheBudgetAndTheOrderOfWishes) {
  const auto pages = pages_from(100, 100);
  const auto first = pages_from(190, 5);
  const auto second = pages_from(120, 20);
  const std::vector<std::vector<PageAddress>> wanted = {first, second};
  const Placement placement = place_by_hand(pages, wanted, second, 10);
  EXPECT_EQ(placement.dram.size(), 10U);
  EXPECT_EQ(placement.cxl.size(), 90U);
  EXPECT_TRUE(
      std::includes(placement.dram.begin(), placement.dram.end(), first.begin(), first.end()));
}

TEST(Placement, HandFillsTheRestAroundTheHotPages) {
  const auto pages = pages_from(100, 100);
  const auto hot = pages_from(150, 1);
  const std::vector<std::vector<PageAddress>> wanted = {hot};
  const Placement placement = place_by_hand(pages, wanted, hot, 5);
  EXPECT_EQ(placement.dram, pages_from(148, 5));
}

TEST(Placement, HandIgnoresPagesThatAreGone) {
  const auto pages = pages_from(100, 4);
  const std::vector<std::vector<PageAddress>> wanted = {pages_from(500, 3)};
  const Placement placement = place_by_hand(pages, wanted, pages, 4);
  EXPECT_EQ(placement.dram, pages);
}

TEST(Settling, NeedsThreeWindowsThatAgree) {
  const std::vector<Window> windows = {window_of(10, 0), window_of(1000, 0), window_of(950, 0),
                                       window_of(901, 0)};
  EXPECT_TRUE(is_settled(windows, 0));
  EXPECT_FALSE(is_settled(std::span(windows).first(3), 0));
  EXPECT_FALSE(is_settled(std::span(windows).last(2), 0));
}

TEST(Settling, WaitsWhilePagesMove) {
  const std::vector<Window> windows = {window_of(100, 5), window_of(100, 6), window_of(100, 5)};
  EXPECT_FALSE(is_settled(windows, 5));
  EXPECT_TRUE(is_settled(windows, 6));
}

TEST(RowFigures, MedianOfEvenAndOddCounts) {
  RowResult row = row_of("all_dram", 10);
  row.windows.push_back(window_of(30, 0).load);
  EXPECT_DOUBLE_EQ(median_of(row, Figure::requests_per_s), 20);
  row.windows.push_back(window_of(25, 0).load);
  EXPECT_DOUBLE_EQ(median_of(row, Figure::requests_per_s), 25);
}

TEST(Checks, HoldExactlyAtTheirBounds) { EXPECT_TRUE(failed_checks(good_rows()).empty()); }

TEST(Checks, NameWhatIsWrong) {
  using Names = std::vector<std::string>;
  auto rows = good_rows();
  rows[0].windows[0].requests_per_s = 1001;
  EXPECT_EQ(failed_checks(rows), Names{"cxltier_over_by_hand"});
  rows = good_rows();
  rows[1].windows[0].requests_per_s = 426;
  EXPECT_EQ(failed_checks(rows), Names{"cxltier_over_static_split"});
  rows = good_rows();
  rows[2].hot_dram_page_share = 0.969;
  EXPECT_EQ(failed_checks(rows), Names{"hot_pages_on_dram"});
  rows = good_rows();
  rows[2].dram_bytes = 103;
  EXPECT_EQ(failed_checks(rows), Names{"dram_within_budget"});
  rows = good_rows();
  rows[1].digest = "d2";
  EXPECT_EQ(failed_checks(rows), Names{"digests_equal"});
}

TEST(Checks, ARowWithoutDigestIsNotEqual) {
  std::vector<RowResult> rows = {row_of("all_dram", 1)};
  rows[0].digest.clear();
  EXPECT_EQ(failed_checks(rows), std::vector<std::string>{"digests_equal"});
}

TEST(RuntimeFigures, ReadsStatsJsonAndRefusesLess) {
  const RuntimeFigures figures =
      parse_figures(R"({"ticks":7,"pages_promoted":3,"pages_demoted":4,"cpu_s":0.5,)"
                    R"("refusals":{"busy":2},)"
                    R"("over_limit_bytes_max":8192,"more":[1]})");
  EXPECT_EQ(figures.ticks, 7U);
  EXPECT_EQ(figures.pages_promoted, 3U);
  EXPECT_EQ(figures.refusals.at("busy"), 2U);
  EXPECT_THROW(parse_figures(R"({"pages_promoted":3})"), Failure);
  EXPECT_THROW(parse_figures("no json"), Failure);
}

TEST(Options, NameTheWrongWordAndTheKnownOnes) {
  const std::string policy = options_of({"redis_demo", "--policy", "warm"}).wrong;
  EXPECT_NE(policy.find("'warm'"), std::string::npos);
  EXPECT_NE(policy.find("hot-cold"), std::string::npos);
  const std::string option = options_of({"redis_demo", "--polcy", "hot-cold"}).wrong;
  EXPECT_NE(option.find("'--polcy'"), std::string::npos);
  EXPECT_NE(option.find("--policy"), std::string::npos);
  EXPECT_FALSE(options_of({"redis_demo", "--rounds", "1.5"}).wrong.empty());
  EXPECT_FALSE(options_of({"redis_demo", "--values-mib", "12x"}).wrong.empty());
  EXPECT_FALSE(options_of({"redis_demo", "--out"}).wrong.empty());
  EXPECT_FALSE(options_of({"redis_demo"}).wrong.empty()) << "the row cxltier needs --bin";
  EXPECT_TRUE(options_of({"redis_demo", "--bin", "b", "--rows", "cxltier,by_hand"}).wrong.empty());
}

}  // namespace
}  // namespace cxltier::demo
