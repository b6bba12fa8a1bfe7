// SPDX-License-Identifier: Apache-2.0
//
// Cutting the heap into regions.
#include "runtime/sensor/region_layout.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cxltier {
namespace {

constexpr std::uint64_t mib = 1u << 20;

TEST(RegionLayout, CutsAtMultiplesOfTheRegionSize) {
  const AddressRange heap[] = {{0x10080000, 0x10280000}};
  AddressRange out[8];

  const std::size_t count = cut_regions(heap, {mib}, out);

  ASSERT_EQ(count, 3u);
  EXPECT_EQ(out[0], (AddressRange{0x10080000, 0x10100000}));
  EXPECT_EQ(out[1], (AddressRange{0x10100000, 0x10200000}));
  EXPECT_EQ(out[2], (AddressRange{0x10200000, 0x10280000}));
}

TEST(RegionLayout, StopsWhenTheStorageIsFull) {
  const AddressRange heap[] = {{0, 64 * mib}};
  AddressRange out[5];
  EXPECT_EQ(cut_regions(heap, {mib}, out), 5u);
  EXPECT_EQ(out[4].end, 5 * mib);
}

TEST(RegionLayout, KeepsTheMinimumWhileTheBudgetHolds) {
  const AddressRange heap[] = {{0, 128 * mib}};
  EXPECT_EQ(choose_region_size(heap, {{mib}, 128}).count, mib);
  EXPECT_EQ(choose_region_size(heap, {{mib}, 127}).count, 2 * mib);
  EXPECT_EQ(choose_region_size(heap, {{mib}, 2}).count, 64 * mib);
}

// Whatever the heap looks like: within the budget, and every byte of it in exactly one region.
TEST(RegionLayout, CoversEveryHeapWithinTheBudget) {
  constexpr unsigned seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<AddressRange> heap;
    std::uintptr_t at = 0x7f0000000000;
    const std::size_t ranges = 1 + random() % 20;
    for (std::size_t i = 0; i < ranges; ++i) {
      at += (1 + random() % 100) * 4096;
      const std::uintptr_t end = at + (1 + random() % 50000) * 4096;
      heap.push_back({at, end});
      at = end;
    }
    const LayoutLimits limits{{512u << 10}, ranges + 1 + random() % 300};

    const Bytes size = choose_region_size(heap, limits);
    std::vector<AddressRange> out(limits.regions_max);
    const std::size_t count = cut_regions(heap, size, out);

    ASSERT_LE(count, limits.regions_max);
    std::size_t range = 0;
    std::uintptr_t expected = heap[0].begin;
    for (std::size_t i = 0; i < count; ++i) {
      if (expected == heap[range].end) expected = heap[++range].begin;
      ASSERT_EQ(out[i].begin, expected);
      ASSERT_LE(out[i].size(), size.count);
      expected = out[i].end;
    }
    ASSERT_EQ(expected, heap.back().end);
  }
}

}  // namespace
}  // namespace cxltier
