// SPDX-License-Identifier: Apache-2.0
//
// The table behind libcxltier.so.  The sequence lock is that of the telemetry page (writer.cpp), in
// memory of our own, with atomic loads where that one's readers use pread.
#include "runtime/preload/core_table.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "cxltier/tier_heap.hpp"

namespace cxltier {

constinit PublishedStatistics published_statistics;

namespace {

// The public numbers are the telemetry page's.
static_assert(static_cast<int>(RunState::starting) == CXLTIER_STATE_STARTING);
static_assert(static_cast<int>(RunState::active) == CXLTIER_STATE_ACTIVE);
static_assert(static_cast<int>(RunState::watching) == CXLTIER_STATE_WATCHING);
static_assert(static_cast<int>(RunState::idle) == CXLTIER_STATE_IDLE);
static_assert(static_cast<int>(RunState::stopped) == CXLTIER_STATE_STOPPED);
static_assert(sizeof(struct cxltier_statistics) == statistics_size_first);

// A write takes less than a microsecond; more looks than this mean that its thread was put aside.
constexpr int looks_max = 1000;

int core_statistics(struct cxltier_statistics* out) noexcept {
  struct cxltier_statistics known {};
  if (const int error = published_statistics.copy(known); error != 0) return error;
  known.size = out->size;
  const std::size_t size = out->size;  // the caller's, may be of a newer version
  memset(out, 0, size);
  memcpy(out, &known, std::min(size, sizeof known));
  return 0;
}

int core_active() noexcept {
  struct cxltier_statistics now {};
  if (published_statistics.copy(now) != 0) return 0;
  return now.state == CXLTIER_STATE_ACTIVE || now.state == CXLTIER_STATE_WATCHING ? 1 : 0;
}

}  // namespace

// A fork may have come in the middle of a write: the child finds the generation odd.
void PublishedStatistics::begin_write() noexcept {
  generation_.store(generation_.load(std::memory_order_relaxed) | 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // odd is seen before any new value
}

void PublishedStatistics::end_write() noexcept {
  generation_.store(generation_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void PublishedStatistics::publish(const TelemetryPage& page) noexcept {
  std::uint64_t refused = 0;
  for (const std::uint64_t pages : page.pages_refused) refused += pages;
  begin_write();
  state_.store(static_cast<std::uint32_t>(page.state), std::memory_order_relaxed);
  ticks_.store(page.ticks, std::memory_order_relaxed);
  pages_promoted_.store(page.pages_promoted, std::memory_order_relaxed);
  pages_demoted_.store(page.pages_demoted, std::memory_order_relaxed);
  pages_refused_.store(refused, std::memory_order_relaxed);
  managed_pages_.store(page.managed_pages, std::memory_order_relaxed);
  runtime_cpu_ns_.store(page.thread_cpu_ns, std::memory_order_relaxed);
  end_write();
}

void PublishedStatistics::forget() noexcept {
  begin_write();
  state_.store(not_started, std::memory_order_relaxed);
  end_write();
}

std::uint32_t PublishedStatistics::load(struct cxltier_statistics& out) const noexcept {
  out.state = state_.load(std::memory_order_relaxed);
  out.ticks = ticks_.load(std::memory_order_relaxed);
  out.pages_promoted = pages_promoted_.load(std::memory_order_relaxed);
  out.pages_demoted = pages_demoted_.load(std::memory_order_relaxed);
  out.pages_refused = pages_refused_.load(std::memory_order_relaxed);
  out.managed_pages = managed_pages_.load(std::memory_order_relaxed);
  out.runtime_cpu_ns = runtime_cpu_ns_.load(std::memory_order_relaxed);
  return out.state;
}

int PublishedStatistics::copy(struct cxltier_statistics& out) const noexcept {
  for (int look = 0; look < looks_max; ++look) {
    const std::uint64_t before = generation_.load(std::memory_order_acquire);
    if (before % 2 != 0) continue;
    const std::uint32_t state = load(out);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (generation_.load(std::memory_order_relaxed) != before) continue;
    return state == not_started ? -EAGAIN : 0;
  }
  return -EAGAIN;
}

}  // namespace cxltier

const cxltier::CoreTable cxltier_core_1 = {
    .size = sizeof(cxltier::CoreTable),
    .version = 1,
    .active = cxltier::core_active,
    .statistics = cxltier::core_statistics,
    .alloc = &cxltier::heap::alloc_table,
};
