// SPDX-License-Identifier: Apache-2.0
//
// Waiting for something that the runtime does in its own time.  The bound only ends a test that has
// failed: a guest without hardware support on a busy machine is many times slower than a computer.
#pragma once

#include <chrono>
#include <thread>

namespace cxltier::guest {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Whether `condition` came true; asks several times a second.
template <typename Condition>
[[nodiscard]] bool becomes_true(std::chrono::seconds within, Condition condition) {
  const Clock::time_point begin = Clock::now();
  while (!condition()) {
    if (Clock::now() - begin > within) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  return true;
}

// Whether `condition` holds at every look for so long; looks once a second.
template <typename Condition>
[[nodiscard]] bool stays_true(std::chrono::seconds during, Condition condition) {
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < during) {
    if (!condition()) return false;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return condition();
}

}  // namespace cxltier::guest
