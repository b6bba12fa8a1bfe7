// SPDX-License-Identifier: Apache-2.0
//
// A scan: clear the access bits, watch for a moment, read them, let the policy plan, carry the plan
// out, publish.
//
//   resting --open window--> watching --read, measure room, tick of the policy, move, publish--.
//      ^    follow heap, cool    the program runs                                              |
//      '---------------------------------------------------------------------------------------'
//
// A region of the sensor's layout is a leaf of the policy's map.
//
// The only place where decisions and deeds meet.  It holds no opinion on heat (the policy has) and
// makes no system call (the seams do).  Whatever a seam refuses, the program runs on: a scan that
// fails is tried again, and after failures_max in a row the controller stops for good and says why.
//
// Called only from the controller's thread.  Uses only the storage that it is given.
#pragma once

#include <array>
#include <atomic>

#include "policy/tiering.h"
#include "runtime/controller/cpu_budget.h"
#include "runtime/controller/telemetry_sink.h"
#include "runtime/controller/tier_room.h"
#include "runtime/controller/touch_window.h"
#include "runtime/mover/mover.h"
#include "runtime/os/clock.h"
#include "runtime/os/file_tree.h"
#include "runtime/os/heap_ranges.h"
#include "runtime/os/latency_chase.h"
#include "runtime/os/process_state.h"
#include "runtime/sensor/access_bits.h"
#include "runtime/sensor/latency_probe.h"

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
  LatencyChase& chase;
  TelemetrySink& telemetry;
};

struct ControllerConfig {
  Machine machine;
  TierMap tiers;
  Settings settings;
  std::size_t vma_budget = 0;                 // VMAs that regions may use
  std::array<Pages, nodes_max> watermarks{};  // the kernel's, by position in machine.nodes
  std::uint32_t cpus = 1;                     // that the program may run on
  // Heaps from this size on pay for probes: 256 KiB of memory on each node.
  Bytes probe_heap_min{1u << 30};
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
  std::array<Observation, vmas_max> seen;
  std::array<Extent, vmas_max> extents;
  std::array<Extent, vmas_max> extents_spare;
  std::array<Leaf, vmas_max> leaves;  // those beyond the extents are empty
  std::array<Leaf, vmas_max> leaves_spare;
  std::array<LeafSample, vmas_max> samples;
  std::array<LeafPlacement, vmas_max> placements;
  std::array<LeafChoice, vmas_max> choices;
  std::array<LeafMove, vmas_max> moves;
  std::array<AddressRange, vmas_max> heap;
};

class Controller {
 public:
  // pre: config.vma_budget <= vmas_max
  Controller(const ControllerSeams& seams, const ControllerConfig& config,
             ControllerStorage& storage) noexcept;

  // Goes on with the counters and times of a controller that this one takes the place of, since the
  // machine changed.  pre: before the first tick
  void carry_on(const TelemetryPage& before) noexcept;
  // Before another controller follows this one: memory that shall grow elsewhere no longer does.
  void hand_over() noexcept;

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
  [[nodiscard]] static Pages expected(std::span<const LeafMove> moves) noexcept;
  void rest(Nanoseconds sensing, Pages planned) noexcept;
  void follow_heap() noexcept;
  Growth growth() noexcept;
  void take_layout(std::span<const Observation> seen) noexcept;
  void learn_window(std::span<const Observation> seen) noexcept;
  void measure() noexcept;
  [[nodiscard]] std::span<const LeafMove> plan() noexcept;
  void list_observations(TickInput& input) noexcept;
  void list_tiers(TickInput& input) noexcept;
  [[nodiscard]] std::span<const Observation> seen() const noexcept;
  [[nodiscard]] Pages over_limit() const noexcept;
  void move(std::span<const LeafMove> moves, const std::atomic<bool>& stop) noexcept;
  void count(Direction direction, const MoveOutcome& outcome) noexcept;
  void fail(const char* what, int error) noexcept;
  void publish() noexcept;
  void publish_tiers() noexcept;
  void publish_policy() noexcept;

  ControllerSeams seams_;
  ControllerConfig config_;
  ControllerStorage& storage_;
  NodeTiers node_tiers_;
  TierCaps caps_;
  std::size_t slower_from_;  // the first tier to grow on while over a limit
  Growth growth_ = Growth::local;
  std::array<std::uint32_t, tiers_max> firmware_ps_{};  // latency of each tier, unloaded
  Tiering tiering_;
  AccessBits sensor_;
  LatencyProbe latency_;
  Mover mover_;
  CpuBudget budget_;

  std::size_t extent_count_ = 0;
  TierRoom room_;
  std::array<NodePages, nodes_max> by_node_{};

  Phase phase_ = Phase::resting;
  TouchWindow window_;
  Nanoseconds due_at_{};
  Nanoseconds scanned_at_{};    // the last scan's end; 0: none yet
  Nanoseconds planned_at_{};    // the policy's last tick
  Nanoseconds window_cost_{};   // processor time of opening it
  bool bits_readable_ = false;  // the window was opened in full
  Bytes heap_at_scan_{};
  std::uint32_t failures_ = 0;
  std::uint32_t quiet_scans_ = 0;
  Pages at_rest_{};  // what was out of place when it became quiet
  TelemetryPage page_;
};

}  // namespace cxltier
