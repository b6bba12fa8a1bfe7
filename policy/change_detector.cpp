// SPDX-License-Identifier: Apache-2.0
//
// All in 256ths of the signal's unit.
#include "policy/change_detector.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

constexpr std::int64_t one = 256;

}  // namespace

void ChangeDetector::learn(std::int64_t sample, std::int64_t deviation) noexcept {
  const bool is_young = samples_ < 2 * samples_min;
  if (samples_ < 0xff) ++samples_;
  // A plain mean of the first few, then the moving ones.
  const std::int64_t mean_divisor = is_young ? samples_ : 10;
  const std::int64_t sigma_divisor = is_young ? samples_ : 5;
  // The mean absolute deviation of a normal signal is 0.8 of its standard deviation.
  const std::int64_t sigma = (deviation < 0 ? -deviation : deviation) * 5 / 4;
  mean_q8_ += (sample * one - mean_q8_) / mean_divisor;
  sigma_q8_ += (sigma - sigma_q8_) / sigma_divisor;
}

Change ChangeDetector::observe(std::int64_t sample, std::int64_t noise,
                               const Parameters& parameters) noexcept {
  CXLTIER_CHECK_DEBUG(noise > 0);
  const std::int64_t deviation = samples_ == 0 ? 0 : sample * one - mean_q8_;
  if (is_learning()) {
    learn(sample, deviation);
    return Change::none;
  }
  const std::int64_t sigma = std::max(sigma_q8_, noise * one);
  const std::int64_t clipped = std::clamp(deviation, -clip_sigmas_ * sigma, clip_sigmas_ * sigma);
  const std::int64_t drift = sigma * parameters.cusum_drift_16 / 16;
  const std::int64_t alarm = sigma * parameters.cusum_alarm_16 / 16;
  up_q8_ = std::max<std::int64_t>(0, up_q8_ + clipped - drift);
  down_q8_ = std::max<std::int64_t>(0, down_q8_ - clipped - drift);
  const Change change = up_q8_ > alarm     ? Change::rise
                        : down_q8_ > alarm ? Change::fall
                                           : Change::none;
  if (change != Change::none) {
    reset();
    learn(sample, 0);
  } else {
    learn(sample, clipped);
  }
  return change;
}

}  // namespace cxltier
