// SPDX-License-Identifier: Apache-2.0
//
// The public questions about the heap, answered from its state.
#include "allocator/heap_state.h"

namespace cxltier::heap {

constinit RangeTable mapped_ranges;
constinit GrowthWatch growth_watch;
constinit TierSpace tier_space;

std::size_t copy_ranges(std::span<Range> out) noexcept { return mapped_ranges.copy(out); }

std::uint64_t ranges_lost() noexcept { return mapped_ranges.lost(); }

std::uint64_t mapped_bytes() noexcept { return mapped_ranges.bytes(); }

void request_attention(std::uint64_t mapped_bytes_at_least, AttentionHook hook) noexcept {
  growth_watch.request(mapped_bytes_at_least, hook, mapped_bytes());
}

}  // namespace cxltier::heap
