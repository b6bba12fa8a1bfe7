// SPDX-License-Identifier: Apache-2.0
//
// What the controller published last, for the program itself (cxltier_statistics).
//
//   controller's thread   publish()   after each tick
//   an application's      copy()      any time, any thread, in a signal handler too
//   the seat              forget()    when the thread is gone: joined, or not inherited by a fork
//
// Why it is safe: the figures lie in one object with static storage, so a reader never follows a
// pointer to the runtime's mapping, which suspend() takes away and a fork child lacks.  Each figure
// is atomic, and a sequence lock makes them one: a reader that met a writer tries again a few
// times, then gives up instead of waiting for a thread that may not run.  There is one writer at a
// time, since forget() is called only where there is no controller's thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/api/core_table.h"
#include "runtime/telemetry/page.h"

namespace cxltier {

class PublishedStatistics {
 public:
  constexpr PublishedStatistics() noexcept = default;

  void publish(const TelemetryPage& page) noexcept;
  void forget() noexcept;

  // errors: -EAGAIN nothing is published, or it is being written
  [[nodiscard]] int copy(struct cxltier_statistics& out) const noexcept;

 private:
  static constexpr std::uint32_t not_started = ~0u;
  using Count = std::atomic<std::uint64_t>;

  void begin_write() noexcept;
  void end_write() noexcept;
  [[nodiscard]] std::uint32_t load(struct cxltier_statistics& out) const noexcept;

  std::atomic<std::uint64_t> generation_{0};  // odd while it is written; only grows
  std::atomic<std::uint32_t> state_{not_started};
  Count ticks_{0};
  Count pages_promoted_{0};
  Count pages_demoted_{0};
  Count pages_refused_{0};
  Count managed_pages_{0};
  Count runtime_cpu_ns_{0};
};

// Of this process.
extern constinit PublishedStatistics published_statistics;

}  // namespace cxltier
