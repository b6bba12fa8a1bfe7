// SPDX-License-Identifier: Apache-2.0
//
// The hog's process, its orders over a pipe, and how it takes and gives back.
#include "tests/guest/hog.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"

namespace cxltier::guest {
namespace {

// Kept across exec, high enough to be nobody else's.
constexpr int orders = 200;
constexpr int answers = 201;

constexpr std::uint64_t huge_bytes = 2u << 20;

const std::string reserve_file = "/proc/sys/vm/min_free_kbytes";
constexpr std::uint64_t reserve_kib = 8 << 10;

struct Order {
  enum Kind : std::int64_t { fill, release, ping } kind = ping;
  std::int64_t node = 0;
  std::uint64_t leave = 0;
};

std::string node_folder(int node) {
  return "/sys/devices/system/node/node" + std::to_string(node) + "/";
}

std::string pool_file(int node) {
  return node_folder(node) + "hugepages/hugepages-2048kB/nr_hugepages";
}

std::uint64_t pool_size(int node) {
  std::uint64_t size = 0;
  std::ifstream(pool_file(node)) >> size;
  return size;
}

class Hog {
 public:
  void serve(int in, int out) {
    std::ifstream(reserve_file) >> reserve_before_;
    Order order;
    while (read(in, &order, sizeof order) == sizeof order) {
      const std::uint64_t answer = carry_out(order);
      if (write(out, &answer, sizeof answer) != sizeof answer) break;
    }
    release();
  }

 private:
  std::uint64_t carry_out(const Order& order) {
    if (order.kind == Order::release) release();
    if (order.kind != Order::fill) return 0;
    const int node = static_cast<int>(order.node);
    std::ofstream(reserve_file) << reserve_kib << std::flush;
    drain_processor_lists(node);
    fill_pool(node, order.leave);
    fill_small(node, order.leave);
    return free_bytes(node);
  }

  // Each processor keeps up to a sixteenth of a node in lists of its own, which count as used until
  // they flow back.  Compacting on a processor empties its lists.
  static void drain_processor_lists(int node) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      std::ofstream(node_folder(node) + "compact") << 1 << std::flush;
    }
    sched_setaffinity(0, sizeof all, &all);
  }

  static void fill_pool(int node, std::uint64_t leave) {
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t left = free_bytes(node);
      if (left < leave + huge_bytes) return;
      std::ofstream(pool_file(node)) << pool_size(node) + (left - leave) / huge_bytes << std::flush;
    }
  }

  // Stops when enough is taken, or when a page lands elsewhere: then the node has no more.
  void fill_small(int node, std::uint64_t leave) {
    constexpr std::size_t step = 64 * page_bytes;
    while (free_bytes(node) > leave) {
      const std::span<std::byte> part = take(node, step);
      if (part.empty() || pages_on(part, {node}) < pages_in(part)) return;
    }
  }

  std::span<std::byte> take(int node, std::size_t size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return {};
    const unsigned long mask = 1UL << node;
    syscall(SYS_mbind, memory, size, MPOL_PREFERRED, &mask, 64UL, 0U);
    small_.emplace_back(static_cast<std::byte*>(memory), size);
    if (mlock(memory, size) != 0) return {};  // faults every page in
    return small_.back();
  }

  void release() {
    for (const auto part : small_) munmap(part.data(), part.size());
    small_.clear();
    for (const int node : dram_nodes()) std::ofstream(pool_file(node)) << 0 << std::flush;
    for (const int node : cxl_nodes()) std::ofstream(pool_file(node)) << 0 << std::flush;
    std::ofstream(reserve_file) << reserve_before_ << std::flush;
  }

  std::uint64_t reserve_before_ = 0;
  std::vector<std::span<std::byte>> small_;
};

std::uint64_t ask(const Order& order) {
  std::uint64_t answer = ~std::uint64_t{0};
  if (write(orders, &order, sizeof order) != sizeof order ||
      read(answers, &answer, sizeof answer) != sizeof answer) {
    return ~std::uint64_t{0};
  }
  return answer;
}

}  // namespace

void start_hog() {
  std::array<int, 2> to_hog{};
  std::array<int, 2> from_hog{};
  if (pipe(to_hog.data()) != 0 || pipe(from_hog.data()) != 0) std::abort();
  if (fork() == 0) {
    close(to_hog[1]);
    close(from_hog[0]);
    Hog().serve(to_hog[0], from_hog[1]);
    _exit(0);
  }
  dup2(to_hog[1], orders);
  dup2(from_hog[0], answers);
  for (const int end : {to_hog[0], to_hog[1], from_hog[0], from_hog[1]}) close(end);
}

std::uint64_t hog_fill(int node, std::uint64_t leave) { return ask({Order::fill, node, leave}); }

void hog_release() { ask({Order::release, 0, 0}); }

bool hog_lives() { return ask({Order::ping, 0, 0}) == 0; }

}  // namespace cxltier::guest
