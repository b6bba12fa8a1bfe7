// SPDX-License-Identifier: Apache-2.0
//
// The slow half of the growth hook; see growth_watch.h.
#include "allocator/growth_watch.h"

namespace cxltier::heap {

void GrowthWatch::request(std::uint64_t mapped_bytes_at_least, AttentionHook hook,
                          std::uint64_t mapped_bytes) noexcept {
  requests_.fetch_add(1);
  due_.store(false);
  hook_.store(hook);
  countdown_.store(0);
  threshold_.store(hook == nullptr ? never : mapped_bytes_at_least);
  if (hook != nullptr) grown_to(mapped_bytes);
}

void GrowthWatch::grown_to(std::uint64_t mapped_bytes) noexcept {
  if (mapped_bytes < threshold_.load()) return;
  if (!due_.load()) due_.store(true);
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
    due_.store(false);  // raised by a thread that had seen the threshold before it was taken back
  } else if (due_.load()) {
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
  due_.store(false);
  hook_.store(nullptr);
}

}  // namespace cxltier::heap
