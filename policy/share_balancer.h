// SPDX-License-Identifier: Apache-2.0
//
// How much of the traffic each tier should carry, so that the mean loaded latency
//
//     J = sum of share[i] * latency[i]
//
// is least: in a closed loop, throughput is outstanding accesses over J.  Equal latency is where a
// selfish access would stop (Colloid 2024 does); the least mean is further on, since a tier near
// its knee slows everybody down.  For each pair of neighbouring tiers, fast f and slow s, with
// x = share[f] / (share[f] + share[s]):
//
//     seek    f unloaded            x -> as much as fits; never give fast memory away unloaded
//             latency f > s         x -> half way down, and so on     (the bracket)
//             latency f < s         x -> half way up to where it was once too much
//             about equal, or the bracket closed: climb
//             J was clearly less at an x before: climb from there
//     climb   try a step, average J until its noise is small; go on while J falls; turn once if
//             the first step did not help.  What is left within a step is less than its gain
//     rest    hold x, until reset() or until its reason is gone for a while: as much as fits was
//             right while f is not slower than s, less was right while f is loaded
//
// With more than two tiers the pairs take turns until each rests.  Shares follow latency and are
// not told how: the planner moves pages, the balancer waits until the share has arrived or no
// longer changes.  Pure values; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "policy/presets.h"
#include "policy/units.h"

namespace cxltier {

// A share of traffic; 65536 would be all.
using Share16 = std::uint16_t;
inline constexpr std::uint32_t share16_one = 65536;
inline constexpr Share16 share16_max = 0xffff;

struct BalanceInput {
  std::uint8_t tier_count = 0;
  std::array<Share16, tiers_max> share{};             // of traffic, now
  std::array<Share16, tiers_max> share_max{};         // if the hottest memory filled the tier
  std::array<std::uint32_t, tiers_max> latency_ps{};  // median of this tick's probes; 0: none
  std::array<std::uint32_t, tiers_max> idle_ps{};     // unloaded; 0: unknown
  std::uint32_t probes = 0;                           // batches behind each median
  Share16 moved = 0;  // share that own moves shifted since the last tick
};

class ShareBalancer {
 public:
  enum class Phase : std::uint8_t { seek, climb, rest };

  // Takes one tick's measurements and returns the shares to work towards.  share16_max stands for
  // "as much as fits".  Without latencies it keeps the last answer.
  // pre: 2 <= tier_count <= tiers_max
  std::array<Share16, tiers_max> aim(const BalanceInput& input,
                                     const Parameters& parameters) noexcept;

  // Load or hot set changed: what was measured is no longer true.
  void reset() noexcept { *this = ShareBalancer{}; }

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

 private:
  // One tick as the pair sees it.
  struct Sample {
    std::uint32_t x = 0;      // of 65536
    std::uint32_t x_max = 0;  // of 65536
    std::uint32_t fast_ps = 0;
    std::uint32_t slow_ps = 0;
    std::uint64_t mean_ps = 0;
    bool is_unloaded = false;
    bool is_moving = false;  // moves load the tiers too
    std::uint32_t probes = 1;
    std::uint32_t noise_permille = 0;  // of each latency, one standard deviation
  };

  [[nodiscard]] static Sample sample_of(const BalanceInput& input, std::size_t fast,
                                        const Parameters& parameters) noexcept;
  // Each returns true when the pair rests with target_.
  bool seek(const Sample& now, const Parameters& parameters) noexcept;
  bool climb(const Sample& now, const Parameters& parameters) noexcept;
  bool judge(std::uint64_t mean_ps, const Sample& now, const Parameters& parameters) noexcept;
  [[nodiscard]] bool is_worth_trying(const Sample& now,
                                     const Parameters& parameters) const noexcept;
  bool try_next(const Sample& now, const Parameters& parameters) noexcept;
  bool start_climb(const Sample& now, std::uint32_t x, const Parameters& parameters) noexcept;
  // Remembers J at this x, unless moves load the tiers; the x where it was clearly less, if there
  // is one.
  std::optional<std::uint32_t> learn_path(const Sample& now, const Parameters& parameters) noexcept;
  void finish_pair(std::size_t pairs, const Parameters& parameters) noexcept;
  [[nodiscard]] std::array<Share16, tiers_max> shares_of(const BalanceInput& input) const noexcept;
  bool has_arrived(const Sample& now, const Parameters& parameters) noexcept;
  void start_pair(std::size_t pair) noexcept;
  void watch(const BalanceInput& input, const Parameters& parameters) noexcept;

  // Ticks in which a rest must look wrong before it ends; doubled each time, since what looked
  // wrong before may have been measured to be right.
  static constexpr std::uint8_t patience_first = 2;
  static constexpr std::uint8_t patience_max = 128;

  Phase phase_ = Phase::seek;
  std::uint32_t target_ = share16_max;  // x of this pair to reach
  std::uint8_t pair_ = 0;               // its fast tier
  std::uint8_t rounds_ = 0;             // over all pairs
  bool has_changed_ = false;            // some pair came to another x in this round
  // What each pair holds; share16_max: as much as fits.
  std::array<std::uint32_t, tiers_max> held_ = [] {
    std::array<std::uint32_t, tiers_max> pegged{};
    for (std::uint32_t& x : pegged) x = share16_max;
    return pegged;
  }();
  std::uint32_t low_ = 0;             // bracket: x was too small here
  std::uint32_t high_ = share16_one;  // and too great here
  // J along the way, by 32nds of x.
  struct PathPoint {
    std::uint32_t mean_ps = 0;
    std::uint32_t probes = 0;
  };
  std::array<PathPoint, 32> path_{};
  bool has_start_ = false;     // J was measured before x was lowered
  std::uint32_t best_x_ = 0;   // climb: least J so far
  std::uint64_t best_ps_ = 0;  // 0: the starting point is being measured
  std::int8_t direction_ = -1;
  std::uint8_t failed_ = 0;   // directions that did not help at this step
  std::uint64_t sum_ps_ = 0;  // of J times probes, at this point
  std::uint32_t probes_ = 0;  // at this point
  std::uint8_t patience_ = patience_first;
  std::uint8_t doubts_ = 0;  // ticks running in which a rest looked wrong
  std::uint32_t last_x_ = 0;
  std::uint8_t still_ = 0;  // ticks in which x did not come nearer
};

}  // namespace cxltier
