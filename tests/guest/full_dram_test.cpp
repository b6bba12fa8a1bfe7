// SPDX-License-Identifier: Apache-2.0
//
// DRAM that others have filled: hot memory comes up as far as there is room, and nothing breaks.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/guest/hog.h"
#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::uint64_t left_free =
    44 * mib;  // per node; the kernel's watermark, 28 MiB, stays free
// What must come up: less than the room, since the machine itself takes some of it meanwhile.
constexpr std::size_t promoted_min = 4 * mib / page_bytes;
// Beyond this the kernel would be reclaiming on behalf of whoever allocates next.
constexpr std::uint64_t free_min = 3 * mib;

// For some seconds: memory that was freed shortly before flows back bit by bit from lists that
// count as used.
bool fill_dram() {
  return stays_true(std::chrono::seconds(6), [] {
    for (const int node : dram_nodes()) {
      if (hog_fill(node, left_free) > left_free + 4 * mib) return false;
    }
    return true;
  });
}

TEST(FullDram, TakesTheRoomThereIsAndNoMore) {
  Pattern hot(48 * mib);
  hot.write(0);
  ASSERT_GE(move_to(hot.bytes(), cxl_node()), pages_in(hot.bytes()) * 9 / 10);
  ASSERT_TRUE(fill_dram());
  const std::size_t before = pages_on(hot.bytes(), dram_nodes());
  const std::uint64_t killed = vmstat("oom_kill");

  const auto begin = Clock::now();
  std::size_t now = 0;
  {
    const PageReader reader(hot, 0, hot.bytes().size() / 8, std::chrono::milliseconds(2));
    EXPECT_TRUE(becomes_true(std::chrono::seconds(60), [&] {
      now = pages_on(hot.bytes(), dram_nodes());
      return now >= before + promoted_min;
    }));
    std::printf("after %.1f s: %zu pages came up\n", seconds_since(begin), now - before);
    EXPECT_TRUE(stays_true(std::chrono::seconds(6), [] {
      for (const int node : dram_nodes()) {
        if (free_bytes(node) < free_min) return false;
      }
      return true;
    }));
    EXPECT_EQ(reader.wrong(), 0u);
  }
  now = pages_on(hot.bytes(), dram_nodes());
  std::printf("at the end: %zu of %zu pages on DRAM, %zu before\n", now, pages_in(hot.bytes()),
              before);
  for (const int node : dram_nodes()) {
    std::printf("node %d: %.1f MiB free\n", node, static_cast<double>(free_bytes(node)) / mib);
  }
  EXPECT_LT(now, pages_in(hot.bytes()));
  EXPECT_EQ(vmstat("oom_kill"), killed);
  EXPECT_TRUE(hog_lives());
  hog_release();
  EXPECT_EQ(hot.wrong(0, 8), 0u);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  using namespace cxltier::guest;
  start_preloaded(argv, {.environment = {}, .prepare = start_hog});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
