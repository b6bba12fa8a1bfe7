// SPDX-License-Identifier: Apache-2.0
//
// The slow half of the growth hook; see growth_watch.h.
#include "allocator/growth_watch.h"

namespace cxltier::heap {

void GrowthWatch::request(std::uint64_t mapped_bytes_at_least, AttentionHook hook,
                          std::uint64_t mapped_bytes) noexcept {
  requests_.fetch_add(1);
  lower();
  hook_.store(hook);
  countdown_.store(0);
  threshold_.store(hook == nullptr ? never : mapped_bytes_at_least);
  if (hook != nullptr) grown_to(mapped_bytes);
}

void GrowthWatch::grown_to(std::uint64_t mapped_bytes) noexcept {
  if (mapped_bytes < threshold_.load()) return;
  if (!due()) raise();
}

void GrowthWatch::set_large_from(std::size_t bytes) noexcept {
  large_from_.store(bytes);
  std::size_t now = slow_from_.load();
  while (now != 0 && !slow_from_.compare_exchange_weak(now, bytes)) {
  }
}

// Again if the size was changed meanwhile: its setter may have seen the hook due and left it to us.
void GrowthWatch::lower() noexcept {
  std::size_t bytes = 0;
  do {
    bytes = large_from_.load();
    slow_from_.store(bytes);
  } while (bytes != large_from_.load());
}

void GrowthWatch::attend(const void* caller) noexcept {
  if (countdown_.load(std::memory_order_relaxed) > 0 &&
      countdown_.fetch_sub(1, std::memory_order_relaxed) > 1) {
    return;
  }
  if (running_.load() || running_.exchange(true)) return;
  const std::uint64_t request_seen = requests_.load();
  const AttentionHook hook = hook_.load();
  if (hook == nullptr) {
    lower();  // raised by a thread that had seen the threshold before it was taken back
  } else if (due()) {
    settle(hook(caller), request_seen);
  }
  running_.store(false);
}

void GrowthWatch::settle(Attention answer, std::uint64_t request_seen) noexcept {
  if (requests_.load() != request_seen) return;
  if (answer == Attention::again) {
    countdown_.store(entries_between_calls);
    return;
  }
  threshold_.store(never);
  lower();
  hook_.store(nullptr);
}

}  // namespace cxltier::heap
