// SPDX-License-Identifier: Apache-2.0
//
// A process on a fake machine: every seam of the controller over one model of pages.
//
//   heap ranges -> pages, each with a node, an access bit and a policy
//   smaps, numa_maps  texts made from them, one VMA per run of equal policy, as the kernel does
//   FaultPlan         makes the k-th call of any seam fail, for fault injection loops
//
// Not thread-safe.  Pages are 4 KiB, nodes 0 and 1 are DRAM with a CPU, node 2 is CXL.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policy/machine.h"
#include "runtime/controller/telemetry_sink.h"
#include "runtime/os/clock.h"
#include "runtime/os/file_tree.h"
#include "runtime/os/heap_ranges.h"
#include "runtime/os/latency_chase.h"
#include "runtime/os/memory_policy.h"
#include "runtime/os/page_mover.h"
#include "runtime/os/process_state.h"
#include "runtime/os/process_text.h"

namespace cxltier::fakes {

inline constexpr std::uint64_t page_bytes = 4096;

// Fails the `at`-th seam call (1-based) with `error`; 0 never fails.  `last` counts what was
// called.
struct FaultPlan {
  std::uint64_t at = 0;
  int error = 12;  // ENOMEM
  std::uint64_t calls = 0;
  bool fails() { return ++calls == at; }
};

struct FakePage {
  int node = 0;
  bool touched = false;
  RangePolicy policy = RangePolicy::local;
  bool bound = false;         // some policy of ours was set
  int move_error = 0;         // errno that a move answers; 0 moves
  std::uint64_t content = 0;  // what the program stored
};

struct FakeNode {
  std::uint64_t pages = 0;
  std::uint64_t used_by_others = 0;
  std::uint32_t latency_ps = 0;  // of a load, now
};

class FakeProcess final : public MemoryPolicy,
                          public PageMover,
                          public Clock,
                          public FileTree,
                          public HeapRanges,
                          public ProcessState,
                          public LatencyChase,
                          public TelemetrySink {
 public:
  FakeProcess();

  // What the tests do to it.
  void map(AddressRange range) { heap_.push_back(range); }
  void touch(std::uintptr_t address, int node_if_new = 0);
  void lock(AddressRange range) { locked_.push_back(range); }
  void advance(Nanoseconds time) { now_ = now_ + time; }
  [[nodiscard]] std::uint64_t pages_on(int node) const;
  [[nodiscard]] std::map<std::uintptr_t, FakePage>& pages() { return pages_; }
  [[nodiscard]] const TelemetryPage& published() const { return published_; }
  [[nodiscard]] std::size_t vma_count() const;
  [[nodiscard]] Machine machine() const;

  FaultPlan faults;
  std::array<FakeNode, 3> nodes{FakeNode{.pages = 1u << 16, .latency_ps = 100'000},
                                FakeNode{.pages = 1u << 16, .latency_ps = 100'000},
                                FakeNode{.pages = 1u << 18, .latency_ps = 250'000}};
  bool has_child = false;  // shared pages keep their access bits and do not move
  bool application_bound = false;
  std::uint64_t cooled_bytes = 0;  // by all calls of cool so far
  int maps_error = 0;              // errno of every read of smaps and numa_maps
  Nanoseconds cost_per_call{1000};

  // Seams.
  Result<Done> bind(AddressRange range, RangePolicy policy) noexcept override;
  Result<Done> cool(AddressRange range) noexcept override;
  Result<PolicyOwner> owner_of(std::uintptr_t address) noexcept override;
  Result<Done> open(std::size_t slot, NodeId node) noexcept override;
  Result<std::uint32_t> walk(std::size_t slot) noexcept override;
  Result<Done> locate(std::span<const std::uintptr_t> pages,
                      std::span<int> status) noexcept override;
  Result<Done> move(std::span<const std::uintptr_t> pages, NodeId node,
                    std::span<int> status) noexcept override;
  Nanoseconds now() noexcept override { return now_; }
  Nanoseconds thread_cpu() noexcept override { return cpu_; }
  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> read_link(const char*, std::span<char>) noexcept override { return Error{2}; }
  Result<std::size_t> list(const char*, EntryVisitor&) noexcept override { return Error{2}; }
  std::size_t copy(std::span<AddressRange> out) noexcept override;
  Bytes mapped() noexcept override;
  bool shares_pages() noexcept override { return has_child; }
  bool forks() noexcept override { return false; }
  bool huge_pages_by_default() noexcept override { return false; }
  void publish(const TelemetryPage& page) noexcept override { published_ = page; }

  ProcessText& smaps() { return smaps_; }
  ProcessText& numa_maps() { return numa_maps_; }

 private:
  struct Vma {
    AddressRange range;
    bool bound = false;
    RangePolicy policy = RangePolicy::local;
  };
  class Text final : public ProcessText {
   public:
    Text(FakeProcess& process, std::string (FakeProcess::*make)() const)
        : process_(process), make_(make) {}
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) noexcept override;

   private:
    FakeProcess& process_;
    std::string (FakeProcess::*make_)() const;
    std::string text_;
  };

  bool call_fails();
  [[nodiscard]] bool grows_slower(std::uintptr_t page) const;
  [[nodiscard]] std::vector<Vma> vmas() const;
  [[nodiscard]] std::string smaps_text() const;
  [[nodiscard]] std::string numa_maps_text() const;
  [[nodiscard]] std::uint64_t free_on(int node) const;
  [[nodiscard]] bool is_locked(AddressRange range) const;

  std::vector<AddressRange> heap_;
  std::vector<AddressRange> locked_;
  std::map<std::uintptr_t, FakePage> pages_;  // present ones, by address
  std::map<std::uintptr_t, Vma> bound_;       // by begin
  Nanoseconds now_ = seconds(100);
  Nanoseconds cpu_{};
  std::array<NodeId, LatencyChase::slots_max> probed_{};
  TelemetryPage published_;
  Text smaps_;
  Text numa_maps_;
};

}  // namespace cxltier::fakes
