// SPDX-License-Identifier: Apache-2.0
//
// clock_gettime(2) behind the contract of clock.h.
#include "runtime/os/clock_linux.h"

#include <time.h>

namespace cxltier {
namespace {

Nanoseconds read_clock(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return seconds(static_cast<std::uint64_t>(t.tv_sec)) +
         Nanoseconds{static_cast<std::uint64_t>(t.tv_nsec)};
}

}  // namespace

Nanoseconds ClockLinux::now() noexcept { return read_clock(CLOCK_MONOTONIC); }

Nanoseconds ClockLinux::thread_cpu() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace cxltier
