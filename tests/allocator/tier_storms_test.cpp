// SPDX-License-Identifier: Apache-2.0
//
// Forks and dying threads while hinted memory is in use.  Each test is named after what would go
// wrong.  Short here; ten thousand forks and fifty thousand threads with CXLTIER_LONG_TESTS set.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "allocator/jemalloc.h"
#include "cxltier/alloc_table.h"
#include "cxltier/heap.hpp"
#include "cxltier/tier_heap.hpp"
#include "tests/allocator/made_up_tiers.h"

extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size);

namespace cxltier::heap {
namespace {

const bool source_set = [] {
  initialize();  // the fork handlers, as the preload library's constructor does
  set_tier_source(two_tiers_on_node_0);
  return true;
}();

int times(int few, int many) { return std::getenv("CXLTIER_LONG_TESTS") == nullptr ? few : many; }

constexpr std::array<cxltier_hint, 5> hints{CXLTIER_DEFAULT, CXLTIER_HOT, CXLTIER_COLD,
                                            CXLTIER_BANDWIDTH, CXLTIER_LOCAL_ONLY};

// Small and large blocks of every class; returns whether each was there and kept its bytes.
bool churn(unsigned seed, int operations) {
  std::minstd_rand random(seed);
  std::array<unsigned char*, 32> blocks{};
  std::array<std::size_t, 32> sizes{};
  bool right = true;
  for (int i = 0; i < operations; ++i) {
    const std::size_t at = random() % blocks.size();
    if (blocks[at] != nullptr) right = right && blocks[at][sizes[at] - 1] == at;
    free(blocks[at]);
    sizes[at] = random() % 40 == 0 ? random() % 3000000 + 1 : random() % 20000 + 1;
    blocks[at] = static_cast<unsigned char*>(
        alloc_table.allocate(sizes[at], hints[random() % hints.size()]));
    if (blocks[at] == nullptr) return false;
    blocks[at][sizes[at] - 1] = static_cast<unsigned char>(at);
  }
  for (unsigned char* block : blocks) free(block);
  return right;
}

std::size_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return resident;
}

// Allocates, and makes an arena, in `forks` children, one after another, of a process whose other
// threads do the same.  Returns whether all of them did.
bool forks_under_load(int forks) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    threads.emplace_back([&stop, seed] {
      while (!stop) churn(seed, 50);
    });
  }
  // One more makes and destroys classes, under whose lock a fork may come as well, and makes a few
  // arenas of jemalloc's own as a program may.
  threads.emplace_back([&stop] {
    for (int made = 0; !stop; ++made) {
      unsigned number = 0;
      std::size_t size = sizeof number;
      if (made < 8) mallctl("arenas.create", &number, &size, nullptr, 0);
      cxltier_hint arena = 0;
      if (alloc_table.arena_create("brief", CXLTIER_COLD, &arena) != 0) continue;
      std::memset(alloc_table.allocate(100000, arena), 1, 100000);
      alloc_table.arena_destroy(arena);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  bool right = true;
  for (int i = 0; i < forks && right; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      const bool kept = churn(static_cast<unsigned>(i), 60);
      cxltier_hint arena = 0;
      const int made = alloc_table.arena_create("child", CXLTIER_HOT, &arena);
      _exit(kept && (made == 0 || made == -ENOSPC) ? 0 : 1);
    }
    int status = -1;
    right = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return right;
}

// Fault kinds F1 and F2: a child inherits a lock in the middle of an update, and hangs.
TEST(Storm, ForkedChildrenHangInAnInheritedLock) {
  // Many short lives first, since classes, arenas and jemalloc's map of addresses grow early.
  const int lives = times(20, 2000);
  for (int life = 0; life < lives; ++life) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(forks_under_load(4) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << "life " << life;
  }
  EXPECT_TRUE(forks_under_load(times(150, 10000)));
}

// A child that uses every class that is left, each at addresses that jemalloc's map may lack.
int status_of_child_that_grows(bool takes_the_lock) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(2);
    if (takes_the_lock) cxltier_je_je_malloc_mutex_prefork(nullptr, address_map_lock());
    bool grown = false;
    cxltier_hint arena = 0;
    while (alloc_table.arena_create("new", CXLTIER_COLD, &arena) == 0) {
      grown = alloc_table.allocate(100, arena) != nullptr;
    }
    _exit(grown ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Storm, AForkWhileTheAddressMapGrowsHangsTheChild) {
  // That it is the lock which growth takes: whoever has it already waits for ever.
  EXPECT_EQ(status_of_child_that_grows(true), SIGALRM);
  cxltier_je_je_malloc_mutex_prefork(nullptr, address_map_lock());
  EXPECT_EQ(status_of_child_that_grows(false), 0);
  cxltier_je_je_malloc_mutex_postfork_child(nullptr, address_map_lock());
}

// Fault kinds T1 and T3: what a thread leaves behind adds up.
TEST(Storm, DyingThreadsLeaveMemoryBehind) {
  const int rounds = times(60, 5000);
  std::atomic<int> wrong{0};
  const auto run_ten = [&wrong] {
    std::array<std::thread, 10> threads;
    for (std::thread& thread : threads) {
      thread = std::thread([&wrong] { wrong += churn(5, 30) ? 0 : 1; });
    }
    for (std::thread& thread : threads) thread.join();
  };
  for (int i = 0; i < 30; ++i) run_ten();
  const std::size_t before = resident_pages();
  for (int i = 0; i < rounds; ++i) run_ten();
  EXPECT_EQ(wrong, 0);
  // Ten threads' caches and what decays later, whatever the number of rounds: 64 MiB.
  EXPECT_LE(resident_pages(), before + 16384);
}

pthread_key_t key;
std::atomic<int> unplaced{0};
std::atomic<int> lost{0};

struct Round {
  int number;
  unsigned char* block;
};

void allocate_in_destructor(void* argument) {
  auto* const round = static_cast<Round*>(argument);
  if (round->block[999] != round->number) lost.fetch_add(1);
  free(round->block);
  cxltier_place place{};
  place.size = sizeof place;
  auto* const block = static_cast<unsigned char*>(alloc_table.allocate(1000, CXLTIER_COLD));
  block[999] = static_cast<unsigned char>(round->number + 1);
  alloc_table.where(block, &place);
  if (place.hint != CXLTIER_COLD) unplaced.fetch_add(1);
  if (round->number < PTHREAD_DESTRUCTOR_ITERATIONS) {
    ++round->number;
    round->block = block;
    pthread_setspecific(key, round);
  } else {
    free(block);
    delete round;
  }
}

// Fault kind T2: in the last round of destructors jemalloc takes another arena than it is told.
TEST(Storm, DestructorsOfDyingThreadsAllocateInTheWrongArena) {
  ASSERT_EQ(pthread_key_create(&key, allocate_in_destructor), 0);
  const auto unmet = [] {
    cxltier_heap_statistics now{};
    now.size = sizeof now;
    alloc_table.read_heap_statistics(&now);
    return now.hints_unmet;
  };
  const std::uint64_t before = unmet();
  for (int i = 0; i < times(100, 5000); ++i) {
    std::thread([] {
      auto* const block = static_cast<unsigned char*>(alloc_table.allocate(1000, CXLTIER_COLD));
      block[999] = 1;
      pthread_setspecific(key, new Round{1, block});
    }).join();
  }
  EXPECT_EQ(lost, 0);
  // In its class, or counted.
  EXPECT_EQ(static_cast<std::uint64_t>(unplaced.load()), unmet() - before);
}

// Fault kind F4: each arena makes a fork slower.
TEST(Storm, ForkIsSlowWithManyArenas) {
  const auto best_fork = [] {
    auto best = std::chrono::nanoseconds::max();
    for (int i = 0; i < 30; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, nullptr, 0);
      best = std::min(best, std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin));
    }
    return best;
  };
  const auto before = best_fork();
  std::vector<cxltier_hint> arenas;
  cxltier_hint arena = 0;
  while (alloc_table.arena_create("one of many", CXLTIER_HOT, &arena) == 0) {
    arenas.push_back(arena);
    std::memset(alloc_table.allocate(1000, arena), 1, 1000);
  }
  const auto added = best_fork() - before;
  RecordProperty("added_us", static_cast<int>(added.count() / 1000));
  std::printf("fork and exit with every arena in use: %+lld us\n",
              static_cast<long long>(added.count() / 1000));
  for (const cxltier_hint one : arenas) EXPECT_EQ(alloc_table.arena_destroy(one), 0);
}

}  // namespace
}  // namespace cxltier::heap
