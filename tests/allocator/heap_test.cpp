// SPDX-License-Identifier: Apache-2.0
//
// The heap's own account of itself against the kernel's, in a program that runs on this heap.
#include "cxltier/heap.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cxltier {
namespace {

// Larger than all that the heap has mapped, so that it must map more.
std::size_t growing_size() { return heap::mapped_bytes() + (64u << 20); }

// Static, so that reading the ranges does not change them.
std::array<heap::Range, heap::ranges_max> ranges;

std::span<const heap::Range> present_ranges() {
  return std::span(ranges).first(heap::copy_ranges(ranges));
}

bool contains(std::span<const heap::Range> all, const void* block, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  return std::any_of(all.begin(), all.end(), [&](const heap::Range& range) {
    return range.begin <= begin && begin + size <= range.end;
  });
}

// As the preload library does before main.
[[maybe_unused]] const bool started = (heap::initialize(), true);

TEST(Heap, KnowsTheAddressOfEveryBlock) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t size = 1; size <= (64u << 20); size *= 2) {
    blocks.emplace_back(std::malloc(size), size);
    blocks.emplace_back(std::aligned_alloc(4u << 20, size), size);
  }

  const auto all = present_ranges();

  for (const auto& [block, size] : blocks) EXPECT_TRUE(contains(all, block, size)) << size;
  for (const auto& [block, size] : blocks) std::free(block);
}

TEST(Heap, DoesNotClaimMemoryOfOthers) {
  void* const mapped =
      mmap(nullptr, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  int on_stack = 0;

  EXPECT_FALSE(contains(present_ranges(), mapped, 1u << 20));
  EXPECT_FALSE(contains(present_ranges(), &on_stack, sizeof on_stack));
  munmap(mapped, 1u << 20);
}

// Every recorded byte is mapped: mincore fails with ENOMEM on a hole.
TEST(Heap, ClaimsOnlyMappedMemory) {
  std::free(std::malloc(300u << 20));
  static std::array<unsigned char, 1u << 20> residency;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

  std::uint64_t bytes = 0;
  for (const heap::Range& range : present_ranges()) {
    bytes += range.end - range.begin;
    for (std::uintptr_t at = range.begin; at < range.end; at += residency.size() * page) {
      const std::size_t size = std::min(range.end - at, residency.size() * page);
      EXPECT_EQ(mincore(reinterpret_cast<void*>(at), size, residency.data()), 0);
    }
  }

  EXPECT_EQ(bytes, heap::mapped_bytes());
  EXPECT_EQ(heap::ranges_lost(), 0u);
}

std::atomic<int> calls{0};
std::atomic<const void*> seen_caller{nullptr};

heap::Attention allocate_in_hook(const void* caller) noexcept {
  calls.fetch_add(1);
  seen_caller.store(caller);
  std::free(std::malloc(100));
  std::thread([] { std::free(std::malloc(100)); }).join();
  return heap::Attention::done;
}

TEST(Heap, CallsTheHookFromTheFirstAllocationAfterGrowth) {
  calls = 0;
  heap::request_attention(heap::mapped_bytes() + (64u << 20), allocate_in_hook);
  std::free(std::malloc(100));
  EXPECT_EQ(calls, 0);

  void* const large = std::malloc(growing_size());
  std::free(std::malloc(100));
  std::free(std::malloc(100));

  EXPECT_EQ(calls, 1);
  // The caller is code of this program, not data and not the library's.
  const auto distance = reinterpret_cast<std::intptr_t>(seen_caller.load()) -
                        reinterpret_cast<std::intptr_t>(&allocate_in_hook);
  EXPECT_LT(std::abs(distance), 64 << 20);
  std::free(large);
}

struct Entry {
  const char* name;
  void* (*allocate)();
};

class HeapEntry : public testing::TestWithParam<Entry> {};

TEST_P(HeapEntry, GivesAttention) {
  calls = 0;
  heap::request_attention(0, [](const void*) noexcept {
    calls.fetch_add(1);
    return heap::Attention::done;
  });

  void* const block = GetParam().allocate();

  EXPECT_EQ(calls, 1);
  std::free(block);
}

constexpr Entry entries[] = {
    {"malloc", [] { return std::malloc(8); }},
    {"calloc", [] { return std::calloc(1, 8); }},
    {"realloc", [] { return std::realloc(nullptr, 8); }},
    {"aligned_alloc", [] { return std::aligned_alloc(64, 64); }},
    {"operator_new", [] { return ::operator new(8); }},
    {"operator_new_array_nothrow", [] { return ::operator new[](8, std::nothrow); }},
    {"operator_new_aligned", [] { return ::operator new (8, std::align_val_t{64}); }},
};

INSTANTIATE_TEST_SUITE_P(Allocating, HeapEntry, testing::ValuesIn(entries),
                         [](const auto& entry) { return std::string(entry.param.name); });

int child_status(int (*in_child)()) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(in_child());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Heap, KeepsRangesAndRequestInAForkChild) {
  calls = 0;
  heap::request_attention(heap::mapped_bytes() + (64u << 20), allocate_in_hook);

  const int status = child_status([] {
    const std::size_t size = growing_size();
    void* const large = std::malloc(size);
    std::free(std::malloc(100));
    const bool known = contains(present_ranges(), large, size);
    return calls == 1 && known ? 0 : 1;
  });

  EXPECT_EQ(status, 0);
  EXPECT_EQ(calls, 0);
  heap::request_attention(0, nullptr);
}

// The hook of the parent is running, on a thread that the child does not have.
TEST(Heap, TheChildsHookRunsAlthoughTheParentsNeverReturned) {
  static std::atomic<bool> armed;
  static std::atomic<bool> entered;
  static std::atomic<bool> leave;
  armed = entered = leave = false;
  std::thread stuck([] {  // made first: making a thread allocates
    while (!armed) std::this_thread::yield();
    std::free(std::malloc(100));
  });
  heap::request_attention(0, [](const void*) noexcept {
    entered = true;
    while (!leave) std::this_thread::yield();
    return heap::Attention::done;
  });
  armed = true;
  while (!entered) std::this_thread::yield();

  const int status = child_status([] {
    calls = 0;
    heap::request_attention(0, [](const void*) noexcept {
      calls.fetch_add(1);
      return heap::Attention::done;
    });
    std::free(std::malloc(100));
    return calls == 1 ? 0 : 1;
  });
  leave = true;
  stuck.join();

  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cxltier
