// SPDX-License-Identifier: Apache-2.0
//
// The whole policy behind one entry: what was seen goes in, what moves comes out.
//
//   TickInput  ->  observe   leaves that were touched, leaves whose pages are elsewhere now
//                  measure   q[i] = share of traffic on tier i,  J = sum q[i] L[i]
//                  detect    did load or hot set change?           -> steady | recency
//                  aim       the shares to reach (share_balancer, interleave, capacity, ...)
//                  plan      which leaves, by benefit over cost    -> moves
//                  guard     did the last moves earn their cost?   -> run | hold | freeze
//              <-  TickPlan
//   record     what the mover did with each move, before the next tick
//
// The simulator and the runtime's controller call exactly this.  Pure: no clock, no heap; memory
// is the caller's, time is a parameter, arithmetic is integer.  One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/change_detector.h"
#include "policy/first_placement.h"
#include "policy/harm_guard.h"
#include "policy/interleave.h"
#include "policy/leaf_map.h"
#include "policy/leaf_planner.h"
#include "policy/leaf_survey.h"
#include "policy/move_budget.h"
#include "policy/presets.h"
#include "policy/share_balancer.h"
#include "policy/units.h"

namespace cxltier {

// One leaf whose resident pages changed since the last tick: memory came, went, or was moved by
// somebody else.  Own moves are reported by record().
struct LeafPlacement {
  std::uint32_t leaf = 0;
  Residence resident{};         // pages by tier
  std::uint16_t call_site = 0;  // hash of who allocated it; 0: unknown
};

// One tier as measured; 0 is unknown wherever it is not a page count.
struct TierReading {
  std::uint32_t latency_idle_ps = 0;  // unloaded: from firmware, or the lowest ever probed
  std::uint32_t latency_ps = 0;       // p50 of the probes since the last tick; 0: none
  std::uint32_t probes = 0;           // how many batches that median is made of
  std::uint32_t read_mbps = 0;        // peak bandwidth, MB/s
  std::uint32_t write_mbps = 0;
  Duplex duplex = Duplex::half;  // full: reads and writes do not share one bus (CXL)
  Pages used{};                  // what this process holds there, managed or not
  Pages capacity{};              // what it may hold there now
};

struct TickInput {
  Nanoseconds now{};
  Nanoseconds elapsed{};            // since the last tick
  Nanoseconds window{};             // how long access bits were open; counts: the sampled time
  std::uint32_t sampled_pages = 0;  // of each leaf, that the sensor looked at; 0: all
  SampleKind kind = SampleKind::bits;
  Coverage coverage = Coverage::all_seen;
  std::span<const LeafSample> samples;        // ascending by leaf, each leaf once
  std::span<const LeafPlacement> placements;  // any order; applied before the samples
  std::uint8_t tier_count = 0;
  std::array<TierReading, tiers_max> tiers{};
  std::uint64_t progress = 0;  // work done since the last tick, if the application reports it
  Nanoseconds sensor_cpu{};    // what sensing cost since the last tick
  Pages moved_max{~std::uint64_t{0}};  // the caller's own bound on moves in this tick
};

struct LeafOutcome {
  Pages moved{};
  Pages refused{};
  Nanoseconds spent{};  // what the move cost: the mover's time and the application's stall
};

enum class TieringMode : std::uint8_t { steady, recency, hold, freeze };

struct TickPlan {
  std::span<const LeafMove> moves;  // in the caller's memory; carry out in order
  Nanoseconds next{};               // when the next tick is wanted, from now
  TieringMode mode = TieringMode::steady;
  std::uint32_t probes_per_s = 8;  // batches for each tier, wanted until then
};

struct TieringConfig {
  Bytes page_size{4096};
  Parameters parameters;                         // of a preset, or with mechanisms switched off
  std::uint32_t cpus = 1;                        // that the application runs on: stall is shared
  std::array<std::uint16_t, tiers_max> ratio{};  // static: N:M:K of pages; 0 everywhere: none
};

// leaves: one per leaf, zeroed before the first tick.  choices and moves bound what one tick can
// do: 2,048 each serve 4 GB of 2 MiB leaves; fewer only make a plan shorter.
struct TieringMemory {
  std::span<Leaf> leaves;
  std::span<LeafChoice> choices;
  std::span<LeafMove> moves;
};

// What the policy knows after a tick; for `stat`, tests and timelines.
struct TieringView {
  TieringMode mode = TieringMode::steady;
  std::array<std::uint16_t, tiers_max> share{};   // of traffic, estimated from heat; 65535 is all
  std::array<std::uint16_t, tiers_max> target{};  // of traffic; what the plan works towards
  std::uint32_t mean_latency_ps = 0;              // J = sum share[i] * latency[i]; 0: unknown
  Rate hot_rate{};                                // capacity fill: this and hotter fits tier 0
  std::uint64_t changes = 0;                      // alarms of the change detector
  std::uint64_t holds = 0;                        // times that the guard stopped all moves
  Pages moved{};                                  // since the start, both directions
  std::int64_t saved_us = 0;             // what moves earned so far, by the guard's account
  std::int64_t spent_us = 0;             // what they and the sensors cost
  std::int32_t gain_permille = 0;        // measured by freeze windows: what running is worth
  std::int32_t gain_bound_permille = 0;  // half width of its interval; 0: not measured yet
};

// Why a leaf is where it is, with the figures that decided.
struct Explanation {
  Verdict verdict = Verdict::unseen;
  TierIndex tier = tier_none;
  TierIndex wish = tier_none;        // the tier that its rank earns it
  std::uint64_t rate_micro = 0;      // its score: touches per page and second, in millionths
  std::uint64_t hot_rate_micro = 0;  // what the fastest tier asks for
  Nanoseconds wait{};                // how long its back-off lasts still
  Pattern pattern = Pattern::unknown;
};

class Tiering {
 public:
  // pre: is_valid(config.parameters); memory outlives this
  Tiering(const TieringConfig& config, const TieringMemory& memory) noexcept;

  // One tick.  pre:  sample and placement indices are below leaves.size(); now never falls
  //            post: no leaf twice; demotions of a pair before its promotions; executed in order
  //                  no tier that was within its capacity passes it; same inputs, same plan
  TickPlan tick(const TickInput& input) noexcept;

  // What became of one move of the last plan.
  void record(const LeafMove& move, const LeafOutcome& outcome, Nanoseconds now) noexcept;

  // Where to put a new block of this call site and size.
  [[nodiscard]] FirstPlacement place(std::uint16_t call_site, Bytes size) const noexcept;

  [[nodiscard]] Explanation explain(std::uint32_t leaf, Nanoseconds now) const noexcept;
  [[nodiscard]] TieringView view() const noexcept;
  // Resident pages by the value of their leaf, in the bins of heat_bin_of.
  [[nodiscard]] std::array<std::uint64_t, heat_bins> heat() const noexcept;

 private:
  using PerTierShare = std::array<Share16, tiers_max>;

  void place_leaves(const TickInput& input) noexcept;
  void survey(const TickInput& input) noexcept;
  void read_latencies(const TickInput& input) noexcept;
  void detect_change(const TickInput& input) noexcept;
  void note_change() noexcept;
  void aim(const TickInput& input) noexcept;
  void aim_capacity() noexcept;
  void aim_slots(const TickInput& input) noexcept;
  GuardState guard(const TickInput& input) noexcept;
  [[nodiscard]] NoiseUnit noise_unit(const TickInput& input) const noexcept;
  std::size_t plan(const TickInput& input, GuardState state) noexcept;
  [[nodiscard]] MoveLoad move_load(const TickInput& input) const noexcept;
  [[nodiscard]] TieringMode mode() const noexcept;
  [[nodiscard]] bool is_recent() const noexcept { return recency_left_ > 0; }
  [[nodiscard]] std::uint32_t short_32() const noexcept;
  // Value on all tiers together, at the last tick.
  [[nodiscard]] std::uint64_t traffic() const noexcept;

  TieringConfig config_;
  TieringMemory memory_;
  SampleKind kind_ = SampleKind::bits;
  std::uint8_t tier_count_ = 0;

  Survey survey_{};
  CapacityFill fill_{};
  PerTierShare share_{};
  PerTierShare target_{};
  std::array<std::uint8_t, tiers_max> slots_of_{};
  std::array<Pages, tiers_max> used_{};
  std::array<Pages, tiers_max> capacity_{};
  std::array<std::uint32_t, tiers_max> latency_ps_{};   // accepted
  std::array<std::uint32_t, tiers_max> jump_probes_{};  // batches that say so, of a sudden rise
  std::array<std::uint32_t, tiers_max> idle_ps_{};
  std::uint64_t mean_latency_ps_ = 0;

  ShareBalancer balancer_;
  ChangeDetector heat_change_{8};
  std::array<ChangeDetector, 2> latency_change_{ChangeDetector{4}, ChangeDetector{4}};
  HarmGuard guard_;
  MoveBudget budget_;
  CallSiteHeat sites_;

  Nanoseconds unseen_{};            // since the last tick with samples of all leaves
  Nanoseconds scan_interval_{};     // between those, average
  std::uint8_t recency_left_ = 0;   // ticks
  Share16 last_share_ = 0;          // of tier 0, at the last tick
  std::int32_t own_shift_ = 0;      // of it, by own moves since then
  Share16 moved_share_ = 0;         // of it, in the last tick, in either direction
  std::uint64_t page_cost_ns_ = 0;  // of a processor, average
  bool has_cost_ = false;           // it was measured
  std::uint64_t spent_ns_ = 0;      // by ranked moves since the last tick
  std::uint32_t ranked_moves_ = 0;  // since the last tick
  std::uint32_t turns_ = 0;
  std::uint64_t changes_ = 0;
  Pages moved_{};
};

}  // namespace cxltier
