// SPDX-License-Identifier: Apache-2.0
//
// A scan: clear the access bits, watch for a moment, read them, update the map, let the policy
// plan, carry the plan out, publish.
//
//   resting --open window--> watching --read, update, measure room, rank, plan, move, publish--.
//      ^    follow heap, cool    the program runs                                              |
//      '---------------------------------------------------------------------------------------'
//
// The only place where decisions and deeds meet.  It holds no opinion on heat (the policy has) and
// makes no system call (the seams do).  Whatever a seam refuses, the program runs on: a scan that
// fails is tried again, and after failures_max in a row the controller stops for good and says why.
//
// Called only from the controller's thread.  Uses only the storage that it is given.
#pragma once

#include <array>
#include <atomic>

#include "policy/planner.h"
#include "policy/region_map.h"
#include "runtime/controller/cpu_budget.h"
#include "runtime/controller/telemetry_sink.h"
#include "runtime/controller/tier_room.h"
#include "runtime/controller/touch_window.h"
#include "runtime/mover/mover.h"
#include "runtime/os/clock.h"
#include "runtime/os/file_tree.h"
#include "runtime/os/heap_ranges.h"
#include "runtime/os/process_state.h"
#include "runtime/sensor/access_bits.h"

namespace cxltier {

struct ControllerSeams {
  MemoryPolicy& policy;
  PageMover& pages;
  ProcessText& smaps;
  ProcessText& numa_maps;
  Clock& clock;
  FileTree& files;
  HeapRanges& heap;
  ProcessState& process;
  TelemetrySink& telemetry;
};

struct ControllerConfig {
  Machine machine;
  TierMap tiers;
  Settings settings;
  std::size_t vma_budget = 0;                 // VMAs that regions may use
  std::array<Pages, nodes_max> watermarks{};  // the kernel's, by position in machine.nodes
};

// One budget for VMAs, owned by the runtime: less where each one makes a fork slower (1.3 ms more
// per fork at 256 split VMAs, 4 GiB, Linux 6.18).  The allocator keeps 64 of each.
inline constexpr std::size_t vmas_for_allocator = 64;
inline constexpr std::size_t vmas_max = 2048 - vmas_for_allocator;
inline constexpr std::size_t vmas_forking = 256 - vmas_for_allocator;

// Everything of variable size, in one piece for one private mapping.  Pages of it that no region
// needs are never touched.
struct ControllerStorage {
  std::array<SensedRegion, vmas_max> sensed;
  std::array<SensedRegion, vmas_max> sensed_spare;
  std::array<Region, vmas_max> regions;
  std::array<Region, vmas_max> regions_spare;
  std::array<Observation, vmas_max> seen;
  std::array<Rank, vmas_max> ranks;
  std::array<Move, vmas_max> moves;
  std::array<AddressRange, vmas_max> heap;
};

class Controller {
 public:
  // pre: config.vma_budget <= vmas_max
  Controller(const ControllerSeams& seams, const ControllerConfig& config,
             ControllerStorage& storage) noexcept;

  // Whether there is something to do now: a window is to be opened or has ended, or the heap grew
  // by a sixteenth since the last scan.
  [[nodiscard]] bool due() noexcept;
  // When it will be due at the latest.
  [[nodiscard]] Nanoseconds due_at() const noexcept { return due_at_; }
  // Opens a window or ends one.  Ends early, without harm, when `stop` becomes true.
  void tick(const std::atomic<bool>& stop) noexcept;

  [[nodiscard]] RunState state() const noexcept { return page_.state; }
  [[nodiscard]] const TelemetryPage& page() const noexcept { return page_; }

  static constexpr std::uint32_t failures_max = 5;

 private:
  enum class Phase : std::uint8_t { resting, watching };

  void open_window() noexcept;
  void scan(const std::atomic<bool>& stop) noexcept;
  bool sense() noexcept;
  [[nodiscard]] Pages pending() const noexcept;
  void note_change(Pages planned) noexcept;
  [[nodiscard]] Pages expected(std::size_t count) const noexcept;
  void rest(Nanoseconds sensing, Pages planned) noexcept;
  void follow_heap() noexcept;
  void update_map(std::size_t seen, Nanoseconds elapsed) noexcept;
  void measure() noexcept;
  std::size_t plan() noexcept;
  [[nodiscard]] Pages over_limit() const noexcept;
  [[nodiscard]] Pages move_budget() const noexcept;
  void move(std::size_t count, const std::atomic<bool>& stop) noexcept;
  void count(const Move& move, const MoveOutcome& outcome) noexcept;
  void fail(const char* what, int error) noexcept;
  void publish() noexcept;
  void publish_tiers() noexcept;
  [[nodiscard]] std::span<Region> live() const noexcept { return regions_.first(region_count_); }

  ControllerSeams seams_;
  ControllerConfig config_;
  ControllerStorage& storage_;
  Parameters parameters_;
  NodeTiers node_tiers_;
  TierCaps caps_;
  AccessBits sensor_;
  Mover mover_;
  CpuBudget budget_;

  std::span<Region> regions_;
  std::span<Region> regions_spare_;
  std::size_t region_count_ = 0;
  TierRoom room_;
  std::array<NodePages, nodes_max> by_node_{};

  Phase phase_ = Phase::resting;
  TouchWindow window_;
  Nanoseconds due_at_{};
  Nanoseconds scanned_at_{};    // the last scan's end; 0: none yet
  Nanoseconds window_cost_{};   // processor time of opening it
  bool bits_readable_ = false;  // the window was opened in full
  Bytes heap_at_scan_{};
  std::uint64_t move_credit_ = 0;  // bytes
  std::uint32_t failures_ = 0;
  std::uint32_t quiet_scans_ = 0;
  Pages at_rest_{};  // what was out of place when it became quiet
  TelemetryPage page_;
};

}  // namespace cxltier
