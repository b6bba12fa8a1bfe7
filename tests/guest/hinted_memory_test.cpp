// SPDX-License-Identifier: Apache-2.0
//
// Memory with hints on real nodes: the kernel says where the pages are.
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "cxltier/alloc.h"
#include "tests/guest/hog.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;

std::span<const std::byte> bytes_of(const void* block, std::size_t size) {
  return {static_cast<const std::byte*>(block), size};
}

void* filled(std::size_t size, cxltier_hint hint) {
  void* const block = cxltier_malloc(size, hint);
  EXPECT_NE(block, nullptr);
  if (block != nullptr) memset(block, 0x5a, size);
  return block;
}

TEST(HintedMemory, LargeBlocksAreWhereTheirHintSays) {
  void* const cold = filled(2 * mib, CXLTIER_COLD);
  void* const hot = filled(2 * mib, CXLTIER_HOT);
  void* const strict = filled(2 * mib, CXLTIER_LOCAL_ONLY);

  EXPECT_EQ(pages_on(bytes_of(cold, 2 * mib), cxl_nodes()), pages_in(bytes_of(cold, 2 * mib)));
  EXPECT_EQ(pages_on(bytes_of(hot, 2 * mib), dram_nodes()), pages_in(bytes_of(hot, 2 * mib)));
  EXPECT_EQ(pages_on(bytes_of(strict, 2 * mib), dram_nodes()), pages_in(bytes_of(strict, 2 * mib)));
  cxltier_place place{};
  place.size = sizeof place;
  ASSERT_EQ(cxltier_where(cold, &place), 0);
  EXPECT_EQ(place.node, cxl_node());
  EXPECT_GT(place.tier, 0);
  EXPECT_EQ(place.hint, static_cast<cxltier_hint>(CXLTIER_COLD));
  for (void* block : {cold, hot, strict}) free(block);
}

TEST(HintedMemory, BandwidthUsesEveryNode) {
  void* const wide = filled(2 * mib, CXLTIER_BANDWIDTH);
  EXPECT_GT(pages_on(bytes_of(wide, 2 * mib), cxl_nodes()), 0u);
  EXPECT_GT(pages_on(bytes_of(wide, 2 * mib), dram_nodes()), 0u);
  free(wide);
}

// After any sequence of frees: hot blocks lie on DRAM, cold ones on CXL.
TEST(HintedMemory, ClassesDoNotMixWhateverIsFreed) {
  std::mt19937 random(7);
  struct Block {
    void* bytes = nullptr;
    std::size_t size = 0;
    cxltier_hint hint = CXLTIER_DEFAULT;
  };
  std::vector<Block> blocks(500);
  for (int i = 0; i < 3000; ++i) {
    Block& block = blocks[random() % blocks.size()];
    free(block.bytes);
    block.size = random() % 100 == 0 ? random() % mib + 1 : random() % 3000 + 1;
    block.hint = random() % 2 == 0 ? CXLTIER_HOT : CXLTIER_COLD;
    block.bytes = filled(block.size, block.hint);
  }
  std::size_t wrong = 0;
  for (const Block& block : blocks) {
    const auto bytes = bytes_of(block.bytes, block.size);
    const auto& nodes = block.hint == CXLTIER_HOT ? dram_nodes() : cxl_nodes();
    if (block.bytes != nullptr) wrong += pages_in(bytes) - pages_on(bytes, nodes);
    free(block.bytes);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(HintedMemory, AnArenaMovesWhileItIsUsed) {
  cxltier_hint arena = 0;
  ASSERT_EQ(cxltier_arena_create("index", CXLTIER_HOT, &arena), 0);
  constexpr std::size_t count = 4 * mib / sizeof(std::uint64_t);
  auto* const words = static_cast<std::uint64_t*>(cxltier_calloc(count, 8, arena));
  ASSERT_NE(words, nullptr);
  for (std::size_t i = 0; i < count; ++i) words[i] = i;
  std::atomic<bool> stop{false};
  std::uint64_t rounds = 0;
  std::thread writer([&] {
    for (; !stop; ++rounds) {
      for (std::size_t i = 0; i < count; i += 64) ++words[i];
    }
  });

  const auto bytes = bytes_of(words, count * 8);
  for (const cxltier_hint hint : {CXLTIER_COLD, CXLTIER_HOT, CXLTIER_COLD}) {
    ASSERT_EQ(cxltier_arena_move(arena, hint), 0);
    const auto& nodes = hint == CXLTIER_HOT ? dram_nodes() : cxl_nodes();
    // Single pages may have been busy just then.
    EXPECT_GE(pages_on(bytes, nodes) * 100, pages_in(bytes) * 99);
  }
  stop = true;
  writer.join();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += words[i] != (i % 64 == 0 ? i + rounds : i);
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(cxltier_arena_destroy(arena), 0);
}

TEST(HintedMemory, AWeightedHintSharesBytes) {
  std::array<std::uint32_t, 8> weights{};
  const int tiers = cxltier_tiers(nullptr, 0);
  ASSERT_GE(tiers, 2);
  weights[0] = 3;
  weights[static_cast<std::size_t>(tiers) - 1] = 1;
  cxltier_hint hint = 0;
  ASSERT_EQ(cxltier_hint_weights(weights.data(), static_cast<std::size_t>(tiers), &hint), 0);
  std::vector<void*> blocks;
  std::size_t cold = 0;
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(filled(mib / 2, hint));
    cold += pages_on(bytes_of(blocks.back(), mib / 2), cxl_nodes());
  }
  EXPECT_NEAR(static_cast<double>(cold) / (32 * 128), 0.25, 0.02);
  for (void* block : blocks) free(block);
}

// Fault kind G1: nothing but the controller's thread runs then.
TEST(HintedMemory, IdleMemoryGoesBackFromEveryTier) {
  malloc_trim(0);  // what earlier tests have freed
  const std::size_t cold_before = anonymous_pages_on(cxl_nodes());
  const std::size_t dram_before = anonymous_pages_on(dram_nodes());
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(filled(5000, CXLTIER_COLD));
    blocks.push_back(filled(5000, CXLTIER_HOT));
    blocks.push_back(filled(5000, CXLTIER_DEFAULT));
  }
  EXPECT_GE(anonymous_pages_on(cxl_nodes()), cold_before + 1000);
  for (void* block : blocks) free(block);

  // Half: each block that a thread's cache keeps holds a slab of five pages, and the cache of a
  // thread that does nothing is not emptied.
  constexpr std::size_t cold_rest = 1250 / 2;
  constexpr std::size_t dram_rest = 2500 / 2;
  EXPECT_TRUE(becomes_true(std::chrono::seconds(120), [&] {
    return anonymous_pages_on(cxl_nodes()) <= cold_before + cold_rest &&
           anonymous_pages_on(dram_nodes()) <= dram_before + dram_rest;
  }));
  std::printf("pages kept: %zd on CXL, %zd on DRAM\n",
              static_cast<ssize_t>(anonymous_pages_on(cxl_nodes()) - cold_before),
              static_cast<ssize_t>(anonymous_pages_on(dram_nodes()) - dram_before));
}

// MEMKIND_MEM_TIERS, below, says 3 to 1.
TEST(HintedMemory, LargeBlocksWithoutAHintFollowTheRatio) {
  std::vector<void*> blocks;
  std::size_t cold = 0;
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(malloc(mib / 2));
    memset(blocks.back(), 1, mib / 2);
    cold += pages_on(bytes_of(blocks.back(), mib / 2), cxl_nodes());
  }
  EXPECT_NEAR(static_cast<double>(cold) / (32 * 128), 0.25, 0.02);
  for (void* block : blocks) free(block);
}

// Fault kind K8: a full node is no out-of-memory.
TEST(HintedMemory, AFullTierSpillsToTheNext) {
  ASSERT_TRUE(
      stays_true(std::chrono::seconds(3), [] { return hog_fill(cxl_node(), mib) <= 8 * mib; }));
  const std::uint64_t killed = vmstat("oom_kill");
  void* const cold = filled(32 * mib, CXLTIER_COLD);
  EXPECT_GE(pages_on(bytes_of(cold, 32 * mib), dram_nodes()) * 2,
            pages_in(bytes_of(cold, 32 * mib)));
  EXPECT_EQ(vmstat("oom_kill"), killed);
  hog_release();
  free(cold);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  using namespace cxltier::guest;
  // The controller's thread runs, for idle memory, and moves nothing: what is placed, hints placed.
  start_preloaded(argv, {.environment = {"CXLTIER_POLICY=first-touch", "CXLTIER_START=1M",
                                         "MEMKIND_MEM_TIERS=KIND:DRAM,RATIO:3;"
                                         "KIND:KMEM_DAX,RATIO:1;POLICY:STATIC_RATIO"},
                         .prepare = start_hog});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
