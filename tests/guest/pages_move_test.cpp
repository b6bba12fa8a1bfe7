// SPDX-License-Identifier: Apache-2.0
//
// Pages of an unprivileged program really move, both ways, and no byte of them changes.
//
//   heap 64 MiB   |----- cold, on DRAM -----|== hot fifth, on CXL ==|----- cold, on DRAM -----|
//   DRAM 24 MiB   demanded: the hot fifth on DRAM, most of the rest on CXL
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t limit_pages = 24 * mib / page_bytes;

struct Placement {
  std::size_t hot_on_dram = 0;
  std::size_t hot = 0;
  std::size_t dram = 0;  // anonymous pages of the whole process

  [[nodiscard]] bool settled() const {
    return hot_on_dram * 100 >= hot * 95 && dram * 100 <= limit_pages * 102;
  }
};

Placement look(std::span<const std::byte> hot) {
  return {pages_on(hot, dram_nodes()), pages_in(hot), anonymous_pages_on(dram_nodes())};
}

TEST(PagesMove, HotPagesComeToDramColdOnesLeaveAndEveryByteStays) {
  Pattern data(64 * mib);
  data.write(0);
  Pattern written(1 * mib);
  written.write(0);
  const auto hot = data.bytes().subspan(26 * mib, 13 * mib);
  ASSERT_GE(move_to(hot, cxl_node()), pages_in(hot) * 9 / 10);
  ASSERT_GE(move_to(written.bytes(), cxl_node()), pages_in(written.bytes()) * 9 / 10);
  ASSERT_GT(anonymous_pages_on(dram_nodes()), 40 * mib / page_bytes);

  const auto begin = Clock::now();
  PageReader reader(data, 26 * mib / 8, 39 * mib / 8, std::chrono::milliseconds(2));
  RoundWriter writer(written);
  Placement now;
  const bool settles = becomes_true(std::chrono::seconds(60), [&] {
    now = look(hot);
    return now.settled();
  });
  std::printf("after %.1f s: hot on DRAM %zu of %zu pages, DRAM %zu of %zu; rounds written %llu\n",
              seconds_since(begin), now.hot_on_dram, now.hot, now.dram, limit_pages,
              static_cast<unsigned long long>(writer.rounds()));
  EXPECT_TRUE(settles);
  EXPECT_TRUE(stays_true(std::chrono::seconds(4), [&] { return look(hot).settled(); }));

  const std::size_t on_cxl = pages_on(data.bytes(), cxl_nodes());
  EXPECT_GE(on_cxl, pages_in(data.bytes()) - limit_pages * 102 / 100);
  EXPECT_GT(reader.passes(), 0u);
  EXPECT_GT(writer.rounds(), 1u);
  EXPECT_EQ(reader.wrong(), 0u);
  EXPECT_EQ(writer.wrong(), 0u);
  EXPECT_EQ(data.wrong(0), 0u);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  cxltier::guest::start_preloaded(argv, {.environment = {"CXLTIER_LIMIT=dram=24M"}, .prepare = {}});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
