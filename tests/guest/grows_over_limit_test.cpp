// SPDX-License-Identifier: Apache-2.0
//
// A program that loads four times its DRAM limit: most of what it writes comes from CXL right away,
// and it is back under its limit soon after.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/pattern.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t limit_pages = 24 * mib / page_bytes;
constexpr std::size_t block_bytes = 64 << 10;
constexpr std::size_t blocks_max = 96 * mib / block_bytes;
constexpr std::size_t step = 64;  // words: memory of a guest's CXL device is slow

TEST(GrowsOverLimit, OnCxlRightAway) {
  std::vector<std::unique_ptr<Pattern>> blocks;
  std::size_t born_on_cxl = 0;
  const auto begin = Clock::now();
  while (blocks.size() < blocks_max) {
    Pattern& block = *blocks.emplace_back(std::make_unique<Pattern>(block_bytes));
    block.write(0, step);
    const std::size_t on_cxl = pages_on(block.bytes(), cxl_nodes());
    born_on_cxl += 2 * on_cxl > pages_in(block.bytes()) ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  std::printf("after %.1f s: %zu of %zu blocks were born on CXL\n", seconds_since(begin),
              born_on_cxl, blocks.size());
  // Two in five on two busy CPUs; fewer where the controller's thread is late.
  EXPECT_GE(born_on_cxl, blocks.size() / 16);
  EXPECT_TRUE(becomes_true(std::chrono::seconds(60), [] {
    return anonymous_pages_on(dram_nodes()) <= limit_pages * 105 / 100;
  }));
  std::size_t wrong = 0;
  for (const auto& block : blocks) wrong += block->wrong(0, step);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  cxltier::guest::start_preloaded(argv, {.environment = {"CXLTIER_LIMIT=dram=24M"}, .prepare = {}});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
