// SPDX-License-Identifier: Apache-2.0
//
// A single cycle through 4,096 lines in random order, 64 of them walked per batch after a flush, so
// that neither caches nor prefetchers know the next one.
#include "runtime/os/latency_chase_linux.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "policy/check.h"
#include "policy/machine.h"
#include "runtime/os/uapi.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace cxltier {
namespace {

#if defined(__x86_64__)
constexpr bool can_flush = true;
void flush(const void* line) noexcept { _mm_clflush(line); }
void fence() noexcept { _mm_mfence(); }
#elif defined(__aarch64__)
constexpr bool can_flush = true;  // user space may: SCTLR_EL1.UCI is set by Linux
void flush(const void* line) noexcept { asm volatile("dc civac, %0" ::"r"(line) : "memory"); }
void fence() noexcept { asm volatile("dsb ish" ::: "memory"); }
#else
constexpr bool can_flush = false;
void flush(const void*) noexcept {}
void fence() noexcept {}
#endif

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

long interruptions() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::uint64_t cost_of_timing() noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 32; ++i) {
    const std::uint64_t begin = now_ns();
    least = std::min(least, now_ns() - begin);
  }
  return least;
}

// Preferred and not bound: a full node must give memory elsewhere, never kill the program.
Result<Done> prefer(void* memory, NodeId node) noexcept {
  NodeSet nodes;
  nodes.insert(node);
  constexpr unsigned long mask_bits = node_ids_max + 1;
  if (syscall(SYS_mbind, memory, LatencyChase::slot_bytes, uapi::mpol_preferred,
              nodes.words().data(), mask_bits, 0U) == -1) {
    return Error{errno};
  }
  return Done{};
}

// Whether every page lies on `node`; asked of move_pages(2) without targets.
bool lies_on(char* memory, NodeId node) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < LatencyChase::slot_bytes; at += page) {
    void* address = memory + at;
    int where = -1;
    if (syscall(SYS_move_pages, 0, 1UL, &address, nullptr, &where, 0) == -1) return false;
    if (where != static_cast<int>(index_of(node))) return false;
  }
  return true;
}

}  // namespace

LatencyChaseLinux::~LatencyChaseLinux() {
  for (const Slot& slot : slots_) {
    if (slot.memory != nullptr) munmap(slot.memory, slot_bytes);
  }
}

// Sattolo's shuffle makes one cycle of all lines; seeded, so that every run walks the same way.
void LatencyChaseLinux::link(Line* memory) noexcept {
  for (std::size_t i = 0; i < lines; ++i) memory[i].next = &memory[i];
  std::uint64_t random = 0x9e3779b97f4a7c15;
  for (std::size_t i = lines - 1; i > 0; --i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    std::swap(memory[i].next, memory[random % i].next);
  }
}

Result<Done> LatencyChaseLinux::open(std::size_t slot, NodeId node) noexcept {
  CXLTIER_CHECK(slot < slots_max && slots_[slot].memory == nullptr);
  if (!can_flush) return Error{ENOSYS};
  void* memory =
      mmap(nullptr, slot_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error{errno};
  Result<Done> placed = prefer(memory, node);
  if (placed.ok()) {
    link(static_cast<Line*>(memory));
    if (!lies_on(static_cast<char*>(memory), node)) placed = Error{ENOMEM};
  }
  if (!placed.ok()) {
    munmap(memory, slot_bytes);
    return placed;
  }
  slots_[slot] = {static_cast<Line*>(memory), static_cast<Line*>(memory)};
  if (timing_ns_ == 0) timing_ns_ = cost_of_timing();
  return Done{};
}

Result<std::uint32_t> LatencyChaseLinux::walk(std::size_t slot) noexcept {
  CXLTIER_CHECK(slot < slots_max && slots_[slot].memory != nullptr);
  std::array<const Line*, batch> ahead{};
  Line* at = slots_[slot].at;
  for (const Line*& line : ahead) {
    line = at;
    at = at->next;
  }
  for (const Line* line : ahead) flush(line);
  fence();
  at = slots_[slot].at;
  const long interruptions_before = interruptions();
  const std::uint64_t begin = now_ns();
  for (std::size_t i = 0; i < batch; ++i) {
    at = at->next;
    asm volatile("" : "+r"(at));  // each load waits for the one before
  }
  const std::uint64_t end = now_ns();
  slots_[slot].at = at;
  if (interruptions() != interruptions_before) return Error{EAGAIN};
  const std::uint64_t took = end - begin;
  const std::uint64_t loads = took > timing_ns_ ? took - timing_ns_ : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(loads * 1000 / batch, 0xffff'ffff));
}

}  // namespace cxltier
