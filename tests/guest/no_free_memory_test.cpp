// SPDX-License-Identifier: Apache-2.0
//
// A limit that demands demotion, and a CXL node without free memory: the program keeps its pages
// where they are, and the controller does not spend its time on trying.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/guest/controller_thread.h"
#include "tests/guest/hog.h"
#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::uint64_t left_free = 1 * mib;
// What is below the kernel's watermark for the node (about 5 MiB here) nobody is given.
constexpr std::uint64_t left_free_max = 8 * mib;
// A busy loop uses all of a processor.  What is promised, 1 % in the long run, comes after the
// credit of the start, four seconds, is spent.
constexpr double cpu_share_max = 0.6;

TEST(NoFreeMemory, PagesStayAndTheControllerRests) {
  // For some seconds: what another program freed shortly before flows back bit by bit.
  ASSERT_TRUE(stays_true(std::chrono::seconds(6),
                         [] { return hog_fill(cxl_node(), left_free) <= left_free_max; }));
  const std::uint64_t killed = vmstat("oom_kill");

  Pattern data(24 * mib);
  data.write(0);
  const PageReader reader(data, 0, 4 * mib / 8, std::chrono::milliseconds(2));
  ASSERT_TRUE(becomes_true(std::chrono::seconds(30), [] { return controller_cpu_ns() > 0; }));

  const std::uint64_t cpu_begin = controller_cpu_ns();
  const auto begin = Clock::now();
  // Memory that an earlier program freed may still flow back.
  EXPECT_TRUE(stays_true(std::chrono::seconds(10), [&] {
    (void)hog_fill(cxl_node(), left_free);
    return pages_on(data.bytes(), cxl_nodes()) * 100 <= pages_in(data.bytes());
  }));
  std::printf("on CXL: %zu of %zu pages\n", pages_on(data.bytes(), cxl_nodes()),
              pages_in(data.bytes()));
  const double share =
      static_cast<double>(controller_cpu_ns() - cpu_begin) * 1e-9 / seconds_since(begin);
  std::printf("controller: %.1f %% of a processor\n", share * 100);

  EXPECT_GT(share, 0.0);
  EXPECT_LT(share, cpu_share_max);
  EXPECT_TRUE(controller_thread().has_value());
  EXPECT_EQ(vmstat("oom_kill"), killed);
  EXPECT_TRUE(hog_lives());
  hog_release();
  EXPECT_EQ(reader.wrong(), 0u);
  EXPECT_EQ(data.wrong(0), 0u);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  using namespace cxltier::guest;
  start_preloaded(argv, {.environment = {"CXLTIER_LIMIT=dram=8M"}, .prepare = start_hog});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
