// SPDX-License-Identifier: Apache-2.0
//
// Did load or hot set change?  A two-sided cumulative sum over one signal.
//
//     up   = max(0, up   + (x - mean) - drift)      alarm when either passes its threshold
//     down = max(0, down - (x - mean) - drift)
//
// Mean and standard deviation are learned while nothing happens (weights 0.1 and 0.2), drift and
// threshold are multiples of the deviation: 0.5 and 6, as ARMS (2025) has them.  One sample counts
// for at most `clip` deviations: at 4 a single outlier never alarms, at 8 a single sample may. Slow
// drift is followed, not reported.  Pure values; one thread at a time.
#pragma once

#include <cstdint>

#include "policy/presets.h"

namespace cxltier {

enum class Change : std::uint8_t { none, rise, fall };

class ChangeDetector {
 public:
  explicit constexpr ChangeDetector(std::int64_t clip_sigmas) noexcept
      : clip_sigmas_(clip_sigmas) {}

  // Takes the next sample of the signal, at most 2^31 in magnitude; `noise` is the least standard
  // deviation that is believed.  After an alarm it begins anew with this sample.
  // pre: noise > 0
  Change observe(std::int64_t sample, std::int64_t noise, const Parameters& parameters) noexcept;

  // Begins anew: what comes is not comparable with what was.
  void reset() noexcept { *this = ChangeDetector(clip_sigmas_); }

  [[nodiscard]] std::int64_t mean() const noexcept { return mean_q8_ / 256; }
  [[nodiscard]] bool is_learning() const noexcept { return samples_ < samples_min; }

  static constexpr std::uint8_t samples_min = 4;  // before the first alarm

 private:
  void learn(std::int64_t sample, std::int64_t deviation) noexcept;

  std::int64_t clip_sigmas_;
  std::int64_t mean_q8_ = 0;   // 256ths
  std::int64_t sigma_q8_ = 0;  // 256ths
  std::int64_t up_q8_ = 0;
  std::int64_t down_q8_ = 0;
  std::uint8_t samples_ = 0;  // saturates
};

}  // namespace cxltier
