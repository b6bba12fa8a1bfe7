// SPDX-License-Identifier: Apache-2.0
//
// Accounts by window; back-off of holds; mean and interval of the gain.
#include "policy/harm_guard.h"

#include <algorithm>
#include <limits>

#include "policy/leaf_map.h"

namespace cxltier {
namespace {

// Fewer moves than this in a window say nothing of reversals.
constexpr std::uint32_t moves_min = 20;
constexpr std::uint8_t holds_running_max = 6;  // 60 s * 2^6: about an hour
constexpr std::int64_t gain_clip_permille = 1000;

std::uint64_t root_of(std::uint64_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= value) root |= bit;
  }
  return root;
}

}  // namespace

GuardState HarmGuard::observe(const GuardInput& input, const Parameters& parameters) noexcept {
  saved_all_ns_ += input.saved_ns;
  spent_all_ns_ += input.spent_ns;
  if (!parameters.mechanisms.guard) return state_ = GuardState::run;
  saved_ns_ += input.saved_ns;
  spent_ns_ += input.spent_ns;
  moves_ += input.moves;
  reversals_ += input.reversals;
  if (window_begin_.count == 0) window_begin_ = input.now;
  if (next_freeze_.count == 0) next_freeze_ = input.now + parameters.freeze_every;
  if (state_ == GuardState::hold && input.now >= hold_until_) {
    state_ = GuardState::run;
    window_begin_ = input.now;
    saved_ns_ = 0;
    spent_ns_ = moves_ = reversals_ = 0;
  }
  if (state_ != GuardState::hold) freeze(input, parameters);
  if (state_ == GuardState::run) judge(input, parameters);
  return state_;
}

// At the end of a window: did moves earn what they cost?
void HarmGuard::judge(const GuardInput& input, const Parameters& parameters) noexcept {
  if (input.now - window_begin_ < parameters.guard_window) return;
  const bool has_moved = moves_ >= moves_min;
  const bool is_loss = saved_ns_ < static_cast<std::int64_t>(spent_ns_);
  const bool is_thrashing =
      std::uint64_t{reversals_} * 100 > std::uint64_t{moves_} * parameters.reversals_percent;
  if (has_moved && (is_loss || is_thrashing)) {
    state_ = GuardState::hold;
    hold_until_ = input.now + backoff_of(seconds(60), holds_running_);
    holds_running_ = std::min<std::uint8_t>(holds_running_max, holds_running_ + 1);
    ++holds_;
  } else if (has_moved) {
    holds_running_ = 0;
  }
  window_begin_ = input.now;
  saved_ns_ = 0;
  spent_ns_ = moves_ = reversals_ = 0;
}

// Enters and leaves freeze windows, and compares the speeds.
void HarmGuard::freeze(const GuardInput& input, const Parameters& parameters) noexcept {
  if (state_ == GuardState::run) {
    if (input.speed != 0) {
      speed_running_ = speed_running_ == 0 ? input.speed : (speed_running_ * 3 + input.speed) / 4;
    }
    if (input.now < next_freeze_ || speed_running_ == 0) return;
    state_ = GuardState::freeze;
    freeze_end_ = input.now + parameters.freeze_for;
    speed_sum_ = speed_count_ = 0;
    return;
  }
  if (input.speed != 0) {
    speed_sum_ += input.speed;
    ++speed_count_;
  }
  if (input.now < freeze_end_) return;
  state_ = GuardState::run;
  next_freeze_ = input.now + parameters.freeze_every;
  if (speed_count_ == 0) return;
  const auto frozen =
      static_cast<std::int64_t>(std::max<std::uint64_t>(1, speed_sum_ / speed_count_));
  note_gain((static_cast<std::int64_t>(speed_running_) - frozen) * 1000 / frozen);
}

void HarmGuard::note_gain(std::int64_t permille) noexcept {
  const std::int64_t gain = std::clamp(permille, -gain_clip_permille, gain_clip_permille);
  ++windows_;
  gain_sum_ += gain;
  gain_square_sum_ += gain * gain;
}

void HarmGuard::release() noexcept {
  if (state_ == GuardState::hold) state_ = GuardState::run;
  holds_running_ = 0;
  window_begin_ = {};
  saved_ns_ = 0;
  spent_ns_ = moves_ = reversals_ = 0;
  speed_running_ = 0;
}

std::int32_t HarmGuard::gain_permille() const noexcept {
  return windows_ == 0 ? 0 : static_cast<std::int32_t>(gain_sum_ / std::int64_t{windows_});
}

// Twice the standard error of the mean: 95 % if windows are independent and many.
std::int32_t HarmGuard::gain_bound_permille() const noexcept {
  if (windows_ < 2) return 0;
  const std::int64_t n = windows_;
  const std::int64_t spread = gain_square_sum_ - gain_sum_ * gain_sum_ / n;
  const auto variance_q8 = static_cast<std::uint64_t>(std::max<std::int64_t>(0, spread)) * 256 /
                           static_cast<std::uint64_t>(n * (n - 1));
  return static_cast<std::int32_t>(std::max<std::uint64_t>(1, 2 * root_of(variance_q8) / 16));
}

}  // namespace cxltier
