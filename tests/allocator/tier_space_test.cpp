// SPDX-License-Identifier: Apache-2.0
//
// Reserved addresses: slots do not meet, grow by steps, and shrink where the kernel allows less.
#include "allocator/tier_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cxltier::heap {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

std::size_t vma_count() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::size_t count = 0;
  while (std::getline(maps, line)) ++count;
  return count;
}

std::size_t address_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages * page;
}

// Each test reserves, and nothing gives addresses back: they are plenty.
std::unique_ptr<TierSpace> reserved(std::size_t slot_bytes) {
  auto space = std::make_unique<TierSpace>();
  EXPECT_TRUE(space->reserve(slot_bytes));
  return space;
}

TEST(TierSpace, NothingIsInsideBeforeItIsReserved) {
  const TierSpace space;
  int on_stack = 0;
  EXPECT_EQ(space.end(), 0u);
  EXPECT_FALSE(space.contains(&on_stack));
  EXPECT_FALSE(space.contains(nullptr));
}

TEST(TierSpace, AddressesTellTheSlot) {
  const auto space = reserved(256 * mib);
  for (std::size_t slot = 0; slot < TierSpace::slots_max; ++slot) {
    void* const first = space->take(slot, 2 * mib, page);
    void* const second = space->take(slot, page, 64 * mib);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    std::memset(first, 1, 2 * mib);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % (64 * mib), 0u);
    EXPECT_TRUE(space->contains(first));
    EXPECT_EQ(space->slot_of(first), slot);
    EXPECT_EQ(space->slot_of(second), slot);
  }
  int on_stack = 0;
  EXPECT_FALSE(space->contains(&on_stack));
}

TEST(TierSpace, ASlotEndsWhereItEnds) {
  const auto space = reserved(64 * mib);
  EXPECT_EQ(space->take(3, 65 * mib, page), nullptr);
  EXPECT_NE(space->take(3, 63 * mib, page), nullptr);
  EXPECT_EQ(space->take(3, 2 * mib, page), nullptr);
  EXPECT_EQ(space->take(3, SIZE_MAX - page + 1, page), nullptr);
  EXPECT_NE(space->take(3, mib, page), nullptr);
}

TEST(TierSpace, FourThousandExtentsInTwoSlotsAreFewVmas) {
  const auto space = reserved(std::size_t{16} << 30);
  const std::size_t before = vma_count();
  for (int i = 0; i < 4000; ++i) {
    auto* const extent =
        static_cast<char*>(space->take(static_cast<std::size_t>(i % 2), 2 * mib, 2 * mib));
    ASSERT_NE(extent, nullptr);
    *extent = 1;
  }
  EXPECT_LE(vma_count(), before + 8);
}

TEST(TierSpace, ResetGivesThePagesBackAsZeroes) {
  const auto space = reserved(64 * mib);
  auto* const before = static_cast<char*>(space->take(1, mib, page));
  std::memset(before, 7, mib);
  space->reset(1);
  auto* const after = static_cast<char*>(space->take(1, mib, page));
  EXPECT_EQ(after, before);
  EXPECT_EQ(after[0] | after[mib - 1], 0);
}

TEST(TierSpace, ThreadsNeverGetTheSameExtent) {
  const auto space = reserved(std::size_t{1} << 30);
  constexpr std::size_t threads = 4;
  constexpr std::size_t extents = 200;
  std::vector<std::thread> running;
  std::atomic<int> wrong{0};
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&space, &wrong, t] {
      std::vector<std::size_t*> mine;
      for (std::size_t i = 0; i < extents; ++i) {
        mine.push_back(static_cast<std::size_t*>(space->take(0, 16 * page, page)));
        if (*mine.back() != 0) wrong.fetch_add(1);
        *mine.back() = t + 1;
      }
      for (const std::size_t* extent : mine) wrong.fetch_add(*extent == t + 1 ? 0 : 1);
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Fault kind K15: in a child, since a limit on addresses cannot be raised again.
TEST(TierSpace, ShrinksUnderALimitOnAddresses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has more addresses in use than any limit";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::size_t used = address_bytes();
    const rlimit limit{used + (std::size_t{40} << 30), used + (std::size_t{40} << 30)};
    setrlimit(RLIMIT_AS, &limit);
    TierSpace space;
    const bool halved = space.reserve(std::size_t{1} << 40) &&
                        space.addresses_of(0).end - space.addresses_of(0).begin <= 2048 * mib &&
                        space.take(0, mib, page) != nullptr;
    const std::size_t halved_used = address_bytes();
    const rlimit tiny{halved_used + 512 * mib, halved_used + 512 * mib};
    setrlimit(RLIMIT_AS, &tiny);
    TierSpace none;
    _exit(halved && !none.reserve(std::size_t{1} << 40) && none.end() == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cxltier::heap
