// SPDX-License-Identifier: Apache-2.0
//
// Do no harm: moves must earn what they cost, or they stop.
//
//   run     saved and spent are added up in a window of 30 s
//   hold    nothing is moved.  Entered if moves cost more than they saved, or if more than a fifth
//           of them undid an earlier one; left after 60 s, doubled each time it did not help, or
//           at once when load or hot set change
//   freeze  5 s in every 300 without moves: progress, or mean latency, with and without
//
// saved: what recently moved memory gains now, by its heat now, so that memory which cooled right
// after its promotion saves nothing.  spent: stall of moves, and processor time of the sensors.
// Both are application time in nanoseconds.  The freeze windows bound what running is worth: a mean
// over windows and the half width of its 95 % interval.  Pure values; one thread at a time.
#pragma once

#include <cstdint>

#include "policy/presets.h"
#include "policy/units.h"

namespace cxltier {

enum class GuardState : std::uint8_t { run, hold, freeze };

// What one tick adds to the accounts.
struct GuardInput {
  Nanoseconds now{};
  Nanoseconds elapsed{};
  std::int64_t saved_ns = 0;  // by moves within the window; below 0: they hurt
  std::uint64_t spent_ns = 0;
  std::uint32_t moves = 0;
  std::uint32_t reversals = 0;
  // Speed of the program in any unit: reported progress per second, or 1/J.  0: unknown.
  std::uint64_t speed = 0;
};

class HarmGuard {
 public:
  // Takes a tick's accounts; what the next moves may do.
  GuardState observe(const GuardInput& input, const Parameters& parameters) noexcept;

  // Load or hot set changed: what was learned of moves is void.
  void release() noexcept;

  [[nodiscard]] GuardState state() const noexcept { return state_; }
  [[nodiscard]] std::uint64_t holds() const noexcept { return holds_; }
  [[nodiscard]] std::int64_t saved_ns() const noexcept { return saved_all_ns_; }
  [[nodiscard]] std::uint64_t spent_ns() const noexcept { return spent_all_ns_; }
  // What running gains over being frozen, in thousandths, and half the width of its interval.
  // Half width 0: fewer than two windows so far.
  [[nodiscard]] std::int32_t gain_permille() const noexcept;
  [[nodiscard]] std::int32_t gain_bound_permille() const noexcept;

 private:
  void judge(const GuardInput& input, const Parameters& parameters) noexcept;
  void freeze(const GuardInput& input, const Parameters& parameters) noexcept;
  void note_gain(std::int64_t permille) noexcept;

  GuardState state_ = GuardState::run;
  std::uint8_t holds_running_ = 0;
  std::uint64_t holds_ = 0;
  Nanoseconds window_begin_{};
  Nanoseconds hold_until_{};
  Nanoseconds next_freeze_{};
  Nanoseconds freeze_end_{};
  std::int64_t saved_ns_ = 0;  // in this window
  std::uint64_t spent_ns_ = 0;
  std::uint32_t moves_ = 0;
  std::uint32_t reversals_ = 0;
  std::int64_t saved_all_ns_ = 0;
  std::uint64_t spent_all_ns_ = 0;
  std::uint64_t speed_running_ = 0;  // average before a freeze
  std::uint64_t speed_sum_ = 0;      // during it
  std::uint32_t speed_count_ = 0;
  std::uint32_t windows_ = 0;
  std::int64_t gain_sum_ = 0;
  std::int64_t gain_square_sum_ = 0;
};

}  // namespace cxltier
