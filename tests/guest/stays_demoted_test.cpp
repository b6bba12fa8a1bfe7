// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own NUMA balancing does not bring back what was demoted.
//
// It moves pages that it sees used from another node; it leaves alone ranges whose policy is not
// the default.  So the cold pages are read now and then here, and memory of the same kind that the
// runtime does not manage shows what would become of them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>

#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t limit_pages = 16 * mib / page_bytes;
constexpr std::size_t hot_bytes = 8 * mib;
constexpr std::chrono::milliseconds pause(1500);  // between two readings of the rest

// Memory beside the heap, put on CXL by hand.
std::span<std::byte> unmanaged(std::size_t size) {
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory, size, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < size; i += page_bytes) memory[i] = std::byte{1};
  return {memory, size};
}

void read_pages(std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const volatile std::byte*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size(); i += page_bytes) (void)at[i];
}

TEST(StaysDemoted, WithKernelBalancingOn) {
  Pattern data(40 * mib);
  data.write(0);
  const auto cold = data.bytes().subspan(hot_bytes);
  const std::size_t on_cxl_min = pages_in(data.bytes()) - limit_pages * 102 / 100;
  const auto beside = unmanaged(4 * mib);
  std::atomic<bool> rarely{false};
  std::atomic<std::size_t> wrong{0};
  auto read_at = Clock::now();
  // One thread that never rests reads it all: the kernel scans on the time of busy threads, and
  // only what the same thread has used before.
  const Repeated busy(std::chrono::microseconds(0), [&] {
    wrong += data.wrong(0, 512, 0, hot_bytes / 8);
    if (!rarely || Clock::now() - read_at < pause) return;
    read_pages(cold);
    read_pages(beside);
    read_at = Clock::now();
  });
  // Before the runtime settles: room that opens later it would rightly fill with what is lukewarm.
  ASSERT_GE(move_to(beside, cxl_node()), pages_in(beside) * 9 / 10);
  std::size_t demoted = 0;
  ASSERT_TRUE(becomes_true(std::chrono::seconds(60), [&] {
    demoted = pages_on(cold, cxl_nodes());
    return demoted >= on_cxl_min && anonymous_pages_on(dram_nodes()) * 100 <= limit_pages * 102;
  }));

  const std::size_t beside_before = pages_on(beside, cxl_nodes());
  const std::uint64_t migrated = vmstat("numa_pages_migrated");
  rarely = true;
  EXPECT_TRUE(stays_true(std::chrono::seconds(15),
                         [&] { return pages_on(cold, cxl_nodes()) * 100 >= demoted * 95; }));
  // The kernel does bring such pages back, where nobody keeps it from that.
  EXPECT_TRUE(becomes_true(std::chrono::seconds(60),
                           [&] { return pages_on(beside, cxl_nodes()) < beside_before / 2; }));
  EXPECT_GE(pages_on(cold, cxl_nodes()) * 100, demoted * 95);
  std::printf(
      "15 s later: %zu of %zu demoted pages on CXL; unmanaged: %zu of %zu; "
      "numa_pages_migrated +%llu\n",
      pages_on(cold, cxl_nodes()), demoted, pages_on(beside, cxl_nodes()), beside_before,
      static_cast<unsigned long long>(vmstat("numa_pages_migrated") - migrated));
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(data.wrong(0, 8), 0u);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  using namespace cxltier::guest;
  start_preloaded(argv, {.environment = {"CXLTIER_LIMIT=dram=16M"},
                         .prepare = [] { write_file("/proc/sys/kernel/numa_balancing", "1"); }});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
