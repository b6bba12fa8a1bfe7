// SPDX-License-Identifier: Apache-2.0
//
// The longest single call into the kernel: such a call may hold the process's memory lock, so its
// length bounds how long a page fault of the application can have waited for us.
#pragma once

#include <algorithm>

#include "runtime/os/clock.h"

namespace cxltier {

class CallTimer {
 public:
  explicit CallTimer(Clock& clock) noexcept : clock_(clock) {}

  // Runs `call` and returns what it returns.
  template <typename Call>
  auto time(Call call) noexcept {
    const Nanoseconds begin = clock_.now();
    auto result = call();
    longest_ = std::max(longest_, clock_.now() - begin);
    return result;
  }
  [[nodiscard]] Nanoseconds longest() const noexcept { return longest_; }

 private:
  Clock& clock_;
  Nanoseconds longest_{};
};

}  // namespace cxltier
