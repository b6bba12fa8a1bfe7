// SPDX-License-Identifier: Apache-2.0
//
// One pattern of allocation, for timing and for counting instructions under any allocator.
//
//   allocator_load CASE PAIRS     prints nanoseconds per pair of malloc and free
//
// It is run by allocator_bench with an allocator preloaded; it links none itself.  Built without
// the compiler's knowledge of malloc, which would remove the pairs.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace {

void pairs_of(std::size_t size, long pairs) {
  for (long i = 0; i < pairs; ++i) {
    void* volatile block = std::malloc(size);
    std::free(block);
  }
}

void pair_64(long pairs) { pairs_of(64, pairs); }
void pair_200k(long pairs) { pairs_of(200 * 1024, pairs); }

void batch_64(long pairs) {
  std::array<void*, 64> blocks;
  for (long done = 0; done < pairs; done += 64) {
    for (void*& block : blocks) block = std::malloc(64);
    for (void* block : blocks) std::free(block);
  }
}

void new_delete_64(long pairs) {
  for (long i = 0; i < pairs; ++i) {
    void* volatile block = ::operator new(64);
    ::operator delete (block, std::size_t{64});
  }
}

class Random {  // xorshift64*, Marsaglia 2003, Vigna 2016
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 2685821657736338717u) >> 32);
  }

 private:
  std::uint64_t state_;
};

// 20,000 live blocks of 16 to 516 bytes; one after another is replaced, each is written to.
void random_16_516(long pairs) {
  constexpr std::size_t live = 20000;
  static std::array<char*, live> blocks;
  Random random(1);
  for (long i = 0; i < pairs; ++i) {
    char*& block = blocks[random.next() % live];
    std::free(block);
    block = static_cast<char*>(std::malloc(16 + random.next() % 501));
    *block = 1;
  }
}

void two_threads_64(long pairs) {
  std::thread other(pairs_of, std::size_t{64}, pairs);
  pairs_of(64, pairs);
  other.join();
}

// What one thread allocates another frees, a hundred blocks at a time through a ring of slots.
void cross_thread_64(long pairs) {
  constexpr std::size_t depth = 8;
  constexpr std::size_t burst = 100;
  struct alignas(64) Slot {
    std::atomic<bool> full{false};
    std::array<void*, burst> blocks;
  };
  static std::array<Slot, depth> ring;
  const std::size_t bursts = static_cast<std::size_t>(pairs) / burst;
  std::thread consumer([bursts] {
    for (std::size_t i = 0; i < bursts; ++i) {
      Slot& slot = ring[i % depth];
      while (!slot.full.load(std::memory_order_acquire)) std::this_thread::yield();
      for (void* block : slot.blocks) std::free(block);
      slot.full.store(false, std::memory_order_release);
    }
  });
  for (std::size_t i = 0; i < bursts; ++i) {
    Slot& slot = ring[i % depth];
    while (slot.full.load(std::memory_order_acquire)) std::this_thread::yield();
    for (void*& block : slot.blocks) block = std::malloc(64);
    slot.full.store(true, std::memory_order_release);
  }
  consumer.join();
}

struct Case {
  const char* name;
  void (*run)(long pairs);
};
constexpr std::array cases{Case{"pair_64", pair_64},
                           Case{"batch_64", batch_64},
                           Case{"new_delete_64", new_delete_64},
                           Case{"random_16_516", random_16_516},
                           Case{"pair_200k", pair_200k},
                           Case{"two_threads_64", two_threads_64},
                           Case{"cross_thread_64", cross_thread_64}};

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc == 3 ? std::atol(argv[2]) : 0;
  for (const Case& one : cases) {
    if (pairs <= 0 || std::strcmp(one.name, argv[1]) != 0) continue;
    const auto begin = std::chrono::steady_clock::now();
    one.run(pairs);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    std::printf("%.3f\n", spent.count() / static_cast<double>(pairs));
    return 0;
  }
  std::fprintf(stderr, "usage: allocator_load CASE PAIRS\ncases:");
  for (const Case& one : cases) std::fprintf(stderr, " %s", one.name);
  std::fprintf(stderr, "\n");
  return 2;
}
