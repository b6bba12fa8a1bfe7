// SPDX-License-Identifier: Apache-2.0
//
// Both methods, with their own loops: the comparison would show nothing over shared ones.
#include "bench/tier/kernel/peer_methods.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "bench/tier/host/processors.h"
#include "bench/tier/kernel/app_kernels.h"
#include "bench/tier/kernel/random.h"

namespace cxltier::bench {
namespace {

constexpr double factor = 3;
constexpr std::size_t slot_bytes = 256;
constexpr std::size_t group_slots = 64 * 4096 / slot_bytes;
constexpr std::size_t offsets = slot_bytes / sizeof(void*);
constexpr int loads_unrolled = 200;
constexpr std::size_t apart_most = 2056;  // 16 KiB and a line

template <int N>
inline void* follow(void* at) noexcept {
  if constexpr (N == 0) {
    return at;
  } else {
    return follow<N - 1>(*static_cast<void**>(at));
  }
}

}  // namespace

StreamMethod::StreamMethod(std::span<std::byte> memory, std::span<const unsigned> cpus) noexcept
    : start_(reinterpret_cast<double*>(memory.data())), cpus_(cpus) {
  const std::size_t each = memory.size() / (3 * sizeof(double)) / 8 * 8;
  const std::size_t apart = std::min(apart_most, each / 16 / 8 * 8);
  stride_ = each + apart;  // `each` may be a power of two
  count_ = each - 2 * apart;
  std::fill_n(array(0), count_, a_);
  std::fill_n(array(1), count_, b_);
  std::fill_n(array(2), count_, c_);
}

void StreamMethod::run_part(int loop, std::size_t index) const {
  const std::size_t threads = cpus_.size();
  const std::size_t from = count_ / threads * index;
  const std::size_t count = index + 1 == threads ? count_ - from : count_ / threads;
  double* const a = array(0) + from;
  double* const b = array(1) + from;
  double* const c = array(2) + from;
  if (loop == 0) stream_copy(c, a, count);
  if (loop == 1) stream_scale(b, c, factor, count);
  if (loop == 2) stream_add(c, a, b, count);
  if (loop == 3) stream_triad({a, b, c}, factor, count);
}

// The caller is the first thread, as OpenMP's master is, and takes the time; the others wait for it
// spinning, since a sleeper's wake-up would be timed too.
double StreamMethod::time_loop(int loop) {
  std::atomic<std::size_t> ready{0};
  std::atomic<std::size_t> done{0};
  std::atomic<bool> go{false};
  const std::size_t others = cpus_.size() - 1;
  pin_thread(cpus_.front());
  // Joins when it ends, also where a thread cannot be started: then all are let go first.
  struct Group {
    std::atomic<bool>& go;
    std::vector<std::thread> threads;
    ~Group() {
      go.store(true, std::memory_order_release);
      for (std::thread& thread : threads) thread.join();
    }
  } group{go, {}};
  for (std::size_t i = 1; i <= others; ++i) {
    group.threads.emplace_back([&, i] {
      pin_thread(cpus_[i]);
      ready.fetch_add(1);
      while (!go.load(std::memory_order_acquire)) {
      }
      run_part(loop, i);
      done.fetch_add(1);
    });
  }
  while (ready.load() < others) std::this_thread::yield();
  const double start = now_s();
  go.store(true, std::memory_order_release);
  run_part(loop, 0);
  while (done.load() < others) {
  }
  return now_s() - start;
}

StreamPass StreamMethod::run(int passes) {
  StreamPass best;
  const double words = static_cast<double>(count_ * sizeof(double)) * 1e-9;
  for (int pass = 0; pass < passes; ++pass) {
    best.copy_gbps = std::max(best.copy_gbps, 2 * words / time_loop(0));
    c_ = a_;
    best.scale_gbps = std::max(best.scale_gbps, 2 * words / time_loop(1));
    b_ = factor * c_;
    best.add_gbps = std::max(best.add_gbps, 3 * words / time_loop(2));
    c_ = a_ + b_;
    best.triad_gbps = std::max(best.triad_gbps, 3 * words / time_loop(3));
    a_ = b_ + factor * c_;
    if (a_ < 1e100) continue;  // grows 15-fold each pass: start anew before it overflows
    a_ = 1;
    std::fill_n(array(0), count_, a_);
  }
  return best;
}

bool StreamMethod::is_right() const noexcept {
  const auto holds = [&](std::size_t index, double value) {
    const double* const words = array(index);
    return std::all_of(words, words + count_, [value](double word) {
      return std::abs(word - value) <= 1e-13 * std::abs(value);
    });
  };
  return holds(0, a_) && holds(1, b_) && holds(2, c_);
}

MultichaseMethod::MultichaseMethod(std::span<std::byte> memory, std::uint64_t seed) {
  Random random(seed);
  const std::size_t groups = memory.size() / slot_bytes / group_slots;
  std::vector<std::uint32_t> group_order(groups);
  std::iota(group_order.begin(), group_order.end(), 0u);
  shuffle(std::span<std::uint32_t>(group_order), random);
  std::vector<std::uint32_t> inside(group_slots);
  std::vector<void**> path;
  path.reserve(groups * group_slots);
  for (const std::uint32_t group : group_order) {
    std::iota(inside.begin(), inside.end(), 0u);
    shuffle(std::span<std::uint32_t>(inside), random);
    for (const std::uint32_t slot : inside) {
      std::byte* const at = memory.data() + (group * group_slots + slot) * slot_bytes +
                            random.below(offsets) * sizeof(void*);
      path.push_back(reinterpret_cast<void**>(at));
    }
  }
  for (std::size_t i = 0; i < path.size(); ++i) *path[i] = path[(i + 1) % path.size()];
  at_ = path.front();
}

double MultichaseMethod::sample_ns(double window_ms, const Timer& timer) noexcept {
  const double stop = now_s() + window_ms / 1000;
  const std::uint64_t start = read_ticks();
  std::uint64_t loads = 0;
  do {
    for (int turn = 0; turn < 20; ++turn) at_ = follow<loads_unrolled>(at_);
    asm volatile("" : "+r"(at_));
    loads += 20 * loads_unrolled;
  } while (now_s() < stop);
  return timer.ns(read_ticks() - start) / static_cast<double>(loads);
}

}  // namespace cxltier::bench
