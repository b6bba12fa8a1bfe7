// SPDX-License-Identifier: Apache-2.0
//
// Hinted blocks in a process whose heap is the embedded one: which class they are in, that they
// stay apart, and what remains when they are freed.  The two tiers are made up: both are node 0, so
// that every machine has them; where pages really go is shown in a guest (tests/guest).
#include "cxltier/tier_heap.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cxltier/alloc_table.h"
#include "cxltier/heap.hpp"
#include "tests/allocator/made_up_tiers.h"

namespace cxltier::heap {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Before anything hints.
const bool source_set = [] {
  set_tier_source(two_tiers_on_node_0);
  return true;
}();

cxltier_place place_of(const void* block) {
  cxltier_place place{};
  place.size = sizeof place;
  EXPECT_EQ(alloc_table.where(block, &place), 0);
  return place;
}

cxltier_heap_statistics statistics() {
  cxltier_heap_statistics now{};
  now.size = sizeof now;
  EXPECT_EQ(alloc_table.read_heap_statistics(&now), 0);
  return now;
}

std::size_t vma_count() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

class TierHeapTest : public testing::TestWithParam<cxltier_hint> {};

TEST_P(TierHeapTest, PutsEverySizeIntoItsClass) {
  for (std::size_t size = 1; size <= 8 * mib; size = size * 3 + 1) {
    auto* const block = static_cast<char*>(alloc_table.allocate(size, GetParam()));
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, size);
    EXPECT_EQ(place_of(block).hint, GetParam()) << size;
    EXPECT_GE(malloc_usable_size(block), size);
    free(block);
  }
}

TEST_P(TierHeapTest, KeepsAlignmentAndZeroes) {
  for (std::size_t alignment = 1; alignment <= 2 * mib; alignment *= 4) {
    void* const block = alloc_table.allocate_aligned(alignment, 100, GetParam());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
    EXPECT_EQ(place_of(block).hint, GetParam());
    std::memset(block, 0xff, 100);
    free(block);
  }
  auto* const zeroed = static_cast<char*>(alloc_table.allocate_zeroed(100, 1, GetParam()));
  EXPECT_TRUE(std::all_of(zeroed, zeroed + 100, [](char c) { return c == 0; }));
  free(zeroed);
}

// The automatic cache would hand the freed blocks to the next malloc of their size.
TEST_P(TierHeapTest, FreedBlocksNeverComeBackFromMalloc) {
  std::vector<void*> blocks(1000);
  for (void*& block : blocks) block = alloc_table.allocate(96, GetParam());
  for (void* block : blocks) free(block);
  for (void*& block : blocks) {
    block = malloc(96);
    EXPECT_EQ(place_of(block).hint, CXLTIER_DEFAULT);
  }
  for (void* block : blocks) free(block);
}

TEST_P(TierHeapTest, PlainReallocKeepsTheClassAndTheBytes) {
  auto* block = static_cast<unsigned char*>(alloc_table.allocate(10, GetParam()));
  std::iota(block, block + 10, static_cast<unsigned char>(1));
  for (const std::size_t size : {100u, 5000u, 300000u, 3000000u, 100u, 10u}) {
    block = static_cast<unsigned char*>(realloc(block, size));
    EXPECT_EQ(place_of(block).hint, GetParam());
    for (unsigned char i = 0; i < 10; ++i) EXPECT_EQ(block[i], i + 1);
  }
  EXPECT_EQ(realloc(block, 0), nullptr);
}

TEST_P(TierHeapTest, CountsWhatLivesInIt) {
  const std::uint64_t before = statistics().hinted_bytes;
  void* const block = alloc_table.allocate(mib, GetParam());
  EXPECT_EQ(statistics().hinted_bytes, before + malloc_usable_size(block));
  free(block);
  EXPECT_EQ(statistics().hinted_bytes, before);
}

TEST_P(TierHeapTest, LeavesErrnoAloneAndSetsItOnFailure) {
  errno = 77;
  free(alloc_table.allocate(1000, GetParam()));
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(alloc_table.allocate(SIZE_MAX, GetParam()), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(alloc_table.allocate_zeroed(SIZE_MAX / 2, 3, GetParam()), nullptr);
  EXPECT_EQ(alloc_table.allocate_aligned(3, 8, GetParam()), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

INSTANTIATE_TEST_SUITE_P(Hints, TierHeapTest,
                         testing::Values(CXLTIER_HOT, CXLTIER_COLD, CXLTIER_BANDWIDTH,
                                         CXLTIER_LOCAL_ONLY));

TEST(TierHeap, UnknownHintsAreRefused) {
  for (const cxltier_hint hint : {6u, 0x200u, 0x405u, 0x10000u, 0x10400u, ~0u}) {
    errno = 0;
    EXPECT_EQ(alloc_table.allocate(8, hint), nullptr) << hint;
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST(TierHeap, ReallocWithAHintMovesTheBlock) {
  auto* block = static_cast<char*>(malloc(1000));
  std::strcpy(block, "kept");
  for (const cxltier_hint hint : {CXLTIER_COLD, CXLTIER_HOT, CXLTIER_COLD}) {
    block = static_cast<char*>(alloc_table.resize(block, 2000, hint));
    EXPECT_STREQ(block, "kept");
    EXPECT_EQ(place_of(block).hint, hint);
  }
  block = static_cast<char*>(alloc_table.resize(block, 4000, CXLTIER_DEFAULT));
  EXPECT_EQ(place_of(block).hint, CXLTIER_COLD);
  EXPECT_EQ(alloc_table.resize(block, 0, CXLTIER_HOT), nullptr);
}

TEST(TierHeap, WeightsShareBytesOverTiers) {
  const std::array<std::uint32_t, 2> weights{3, 1};
  cxltier_hint hint = 0;
  ASSERT_EQ(alloc_table.hint_weights(weights.data(), 2, &hint), 0);
  std::vector<void*> blocks;
  for (int i = 0; i < 4000; ++i) {
    blocks.push_back(alloc_table.allocate(static_cast<std::size_t>(i % 7 + 1) * 1000, hint));
  }

  const cxltier_heap_statistics now = statistics();
  const double share = static_cast<double>(now.tier_bytes[0]) /
                       static_cast<double>(now.tier_bytes[0] + now.tier_bytes[1]);
  EXPECT_NEAR(share, 0.75, 0.02);
  for (void* block : blocks) free(block);

  const std::array<std::uint32_t, 3> too_many{1, 1, 1};
  EXPECT_EQ(alloc_table.hint_weights(too_many.data(), 3, &hint), -EINVAL);
  EXPECT_EQ(alloc_table.hint_weights(weights.data(), 0, &hint), -EINVAL);
}

TEST(TierHeap, ArenasAreFreedAsAWholeAndTheirHintsDie) {
  cxltier_hint arena = 0;
  ASSERT_EQ(alloc_table.arena_create("index", CXLTIER_COLD, &arena), 0);
  for (int i = 0; i < 1000; ++i) std::memset(alloc_table.allocate(50000, arena), 1, 50000);
  void* const block = alloc_table.allocate(100, arena);
  EXPECT_STREQ(place_of(block).arena, "index");
  EXPECT_EQ(place_of(block).hint, arena);
  rusage before{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &before), 0);

  EXPECT_EQ(alloc_table.arena_destroy(arena), 0);

  EXPECT_EQ(place_of(block).node, -1);  // its page is gone
  EXPECT_EQ(alloc_table.allocate(8, arena), nullptr);
  EXPECT_EQ(alloc_table.arena_destroy(arena), -EINVAL);
  cxltier_hint next = 0;
  ASSERT_EQ(alloc_table.arena_create("next", CXLTIER_DEFAULT, &next), 0);
  EXPECT_NE(next, arena);
  auto* const fresh = static_cast<char*>(alloc_table.allocate_zeroed(1000, 100, next));
  EXPECT_TRUE(std::all_of(fresh, fresh + 100000, [](char c) { return c == 0; }));
  EXPECT_EQ(alloc_table.arena_destroy(next), 0);
}

TEST(TierHeap, ArenasThatMoveKeepTheirBytes) {
  cxltier_hint arena = 0;
  ASSERT_EQ(alloc_table.arena_create("mover", CXLTIER_HOT, &arena), 0);
  auto* const block = static_cast<std::uint64_t*>(alloc_table.allocate(16 * mib, arena));
  for (std::uint64_t i = 0; i < 16 * mib / 8; ++i) block[i] = i * 0x9e3779b97f4a7c15;
  EXPECT_EQ(alloc_table.arena_move(arena, CXLTIER_COLD), 0);
  bool same = true;
  for (std::uint64_t i = 0; i < 16 * mib / 8; ++i) same &= block[i] == i * 0x9e3779b97f4a7c15;
  EXPECT_TRUE(same);
  EXPECT_EQ(alloc_table.arena_move(arena, CXLTIER_LOCAL_ONLY), -EINVAL);
  EXPECT_EQ(alloc_table.arena_move(arena, arena), -EINVAL);
  EXPECT_EQ(alloc_table.arena_destroy(arena), 0);
}

TEST(TierHeap, ClassesAreAtMostSixteen) {
  std::vector<cxltier_hint> arenas;
  cxltier_hint arena = 0;
  int error = 0;
  while ((error = alloc_table.arena_create("many", CXLTIER_DEFAULT, &arena)) == 0) {
    arenas.push_back(arena);
    ASSERT_LE(arenas.size(), 16u);
  }
  EXPECT_EQ(error, -ENOSPC);
  for (const cxltier_hint one : arenas) EXPECT_EQ(alloc_table.arena_destroy(one), 0);
  EXPECT_EQ(alloc_table.arena_create("one that is far too long for its field", 0, &arena), -EINVAL);
}

int calls_of_callback = 0;
int note_low_memory(void* argument, cxltier_hint hint, std::size_t) {
  ++calls_of_callback;
  EXPECT_EQ(argument, &calls_of_callback);
  EXPECT_EQ(hint, static_cast<cxltier_hint>(CXLTIER_LOCAL_ONLY));
  return calls_of_callback == 1 ? 1 : 0;
}

TEST(TierHeap, AsksTheProgramBeforeItGivesUp) {
  ASSERT_EQ(alloc_table.on_low_memory(note_low_memory, &calls_of_callback), 0);
  const std::uint64_t failures = statistics().strict_failures;
  EXPECT_EQ(alloc_table.allocate(std::size_t{1} << 45, CXLTIER_LOCAL_ONLY), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(calls_of_callback, 1);
  EXPECT_EQ(statistics().strict_failures, failures + 1);
  ASSERT_EQ(alloc_table.on_low_memory(nullptr, nullptr), 0);
}

TEST(TierHeap, PinsAreCutOutAndDoNotNest) {
  auto* const memory = static_cast<char*>(aligned_alloc(4096, 16 * 4096));
  EXPECT_EQ(alloc_table.pin(memory + 5000, 100), 0);
  EXPECT_EQ(alloc_table.pin(memory + 4096, 1), -EINVAL);
  Range pins[2];
  ASSERT_EQ(copy_pinned_ranges(pins, 2), 1u);
  EXPECT_EQ(pins[0].begin, reinterpret_cast<std::uintptr_t>(memory + 4096));
  EXPECT_EQ(pins[0].end - pins[0].begin, 4096u);
  EXPECT_EQ(alloc_table.unpin(memory, 100), -ENOENT);
  EXPECT_EQ(alloc_table.unpin(memory + 5000, 100), 0);
  EXPECT_EQ(copy_pinned_ranges(pins, 2), 0u);
  free(memory);
}

TEST(TierHeap, LargeBlocksFollowTheWeights) {
  place_large_blocks({.bytes_min = 512 << 10, .weights = {1}, .slowest_weight = 1});
  std::vector<void*> blocks;
  std::array<int, 2> by_tier{};
  for (int i = 0; i < 64; ++i) {
    blocks.push_back(i % 2 == 0 ? malloc(mib) : calloc(1, mib));
    ++by_tier[place_of(blocks.back()).hint == CXLTIER_HOT ? 0 : 1];
    EXPECT_NE(place_of(blocks.back()).hint, CXLTIER_DEFAULT);
  }
  void* grown = malloc(1000);
  EXPECT_EQ(place_of(grown).hint, CXLTIER_DEFAULT);
  std::strcpy(static_cast<char*>(grown), "kept");
  grown = realloc(grown, 4 * mib);
  EXPECT_STREQ(static_cast<char*>(grown), "kept");
  EXPECT_NE(place_of(grown).hint, CXLTIER_DEFAULT);
  free(grown);
  EXPECT_EQ(by_tier[0], 32);
  for (void* block : blocks) free(block);
  place_large_blocks({.bytes_min = 1});
  void* const large = malloc(mib);
  EXPECT_EQ(place_of(large).hint, CXLTIER_DEFAULT);
  free(large);
}

// Fault kind K1.  Two hundred thousand mixed operations here; millions in --all.
TEST(TierHeap, VmasStayBoundedUnderMixedOperations) {
  const std::size_t before = vma_count();
  const bool long_run = std::getenv("CXLTIER_LONG_TESTS") != nullptr;
  const int operations = long_run ? 10'000'000 : 200'000;
  std::mt19937_64 random(1);
  std::vector<void*> blocks(2000);
  constexpr std::array<cxltier_hint, 4> hints{CXLTIER_DEFAULT, CXLTIER_HOT, CXLTIER_COLD,
                                              CXLTIER_BANDWIDTH};
  std::size_t most = 0;
  for (int i = 0; i < operations; ++i) {
    void*& block = blocks[random() % blocks.size()];
    free(block);
    const std::size_t size = random() % 200 == 0 ? random() % (3 * mib) : random() % 20000;
    block = alloc_table.allocate(size, hints[random() % hints.size()]);
    if (block != nullptr && size > 0) static_cast<char*>(block)[size - 1] = 1;
    if (i % 50000 == 0) most = std::max(most, vma_count());
  }
  EXPECT_LE(std::max(most, vma_count()), before + 64);
  for (void* block : blocks) free(block);
}

TEST(TierHeap, ThreadsShareClassesWithoutMixingThem) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([seed, &wrong] {
      std::mt19937 random(seed);
      std::array<void*, 64> blocks{};
      std::array<cxltier_hint, 64> hints{};
      for (int i = 0; i < 5000; ++i) {
        const std::size_t at = random() % blocks.size();
        free(blocks[at]);
        hints[at] = random() % 2 == 0 ? CXLTIER_HOT : CXLTIER_COLD;
        blocks[at] = alloc_table.allocate(random() % 5000 + 1, hints[at]);
        if (place_of(blocks[at]).hint != hints[at]) wrong.fetch_add(1);
      }
      for (void* block : blocks) free(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace cxltier::heap
