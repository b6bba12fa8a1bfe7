// SPDX-License-Identifier: Apache-2.0
//
// Slots are searched linearly: a heap of many gigabytes has some hundred ranges, and it maps one of
// them once in thousands of allocations.
#include "allocator/range_table.h"

#include <algorithm>

namespace cxltier::heap {
namespace {

constexpr unsigned grain_shift = 12;
constexpr unsigned length_bits = 28;
constexpr std::uint64_t grains_max = (std::uint64_t{1} << length_bits) - 1;
constexpr std::uint64_t first_grain_max = (std::uint64_t{1} << (64 - length_bits)) - 1;

// Long enough for a preempted thread to finish its split, short enough for a fork child in which
// that thread does not exist.  A remover that gives up leaves a range that is no longer mapped,
// which readers of ranges must tolerate anyway.
constexpr int passes_max = 1000;

constexpr std::uint64_t word_of(std::uint64_t first, std::uint64_t grains) {
  return (first << length_bits) | grains;
}
constexpr std::uint64_t first_of(std::uint64_t word) { return word >> length_bits; }
constexpr std::uint64_t end_of(std::uint64_t word) { return first_of(word) + (word & grains_max); }

constexpr std::uint64_t first_grain_of(Range range) { return range.begin >> grain_shift; }
constexpr std::uint64_t grains_of(Range range) {
  const std::uint64_t grain_mask = (std::uint64_t{1} << grain_shift) - 1;
  return ((range.end + grain_mask) >> grain_shift) - first_grain_of(range);
}
constexpr Range range_of(std::uint64_t word) {
  return {static_cast<std::uintptr_t>(first_of(word) << grain_shift),
          static_cast<std::uintptr_t>(end_of(word) << grain_shift)};
}

// Sorts and merges in place; returns the new length.
std::size_t merge(std::span<Range> ranges) noexcept {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Range& range : ranges) {
    if (kept != 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  return kept;
}

}  // namespace

void RangeTable::add(Range range) noexcept {
  bytes_.fetch_add(range.end - range.begin, std::memory_order_relaxed);
  std::uint64_t first = first_grain_of(range);
  std::uint64_t left = grains_of(range);
  while (left != 0) {
    const std::uint64_t grains = std::min(left, grains_max);
    if (!lengthen_neighbour(first, grains)) place(first, grains);
    first += grains;
    left -= grains;
  }
}

// A slot that ends where the new range begins, or begins where it ends, takes it in.
bool RangeTable::lengthen_neighbour(std::uint64_t first, std::uint64_t grains) noexcept {
  const std::size_t used = slots_used_.load();
  for (std::size_t i = 0; i < used; ++i) {
    std::uint64_t word = slots_[i].load();
    while (word != 0 && (end_of(word) == first || first_of(word) == first + grains)) {
      const std::uint64_t sum = end_of(word) - first_of(word) + grains;
      if (sum > grains_max) break;
      if (slots_[i].compare_exchange_weak(word, word_of(std::min(first, first_of(word)), sum))) {
        return true;
      }
    }
  }
  return false;
}

void RangeTable::place(std::uint64_t first, std::uint64_t grains) noexcept {
  if (first > first_grain_max) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].load() != 0) continue;
    // Readers stop at slots_used_, so it grows before the slot is filled.
    std::size_t used = slots_used_.load();
    while (used <= i && !slots_used_.compare_exchange_weak(used, i + 1)) {
    }
    std::uint64_t free_slot = 0;
    if (slots_[i].compare_exchange_strong(free_slot, word_of(first, grains))) return;
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

void RangeTable::remove(Range range) noexcept {
  bytes_.fetch_sub(range.end - range.begin, std::memory_order_relaxed);
  const std::uint64_t grains = grains_of(range);
  std::uint64_t removed = 0;
  for (int pass = 0; pass < passes_max; ++pass) {
    const std::uint64_t finished = splits_finished_.load();
    removed += remove_in_one_pass(first_grain_of(range), grains);
    const bool nothing_in_transit = splits_started_.load() == finished;
    if (removed >= grains || nothing_in_transit) return;
  }
}

std::uint64_t RangeTable::remove_in_one_pass(std::uint64_t first, std::uint64_t grains) noexcept {
  const std::size_t used = slots_used_.load();
  std::uint64_t removed = 0;
  for (std::size_t i = 0; i < used && removed < grains; ++i) {
    removed += remove_in_slot(slots_[i], first, first + grains);
  }
  return removed;
}

std::uint64_t RangeTable::remove_in_slot(Slot& slot, std::uint64_t first,
                                         std::uint64_t end) noexcept {
  std::uint64_t word = slot.load();
  while (word != 0 && first_of(word) < end && end_of(word) > first) {
    const std::uint64_t cut_first = std::max(first, first_of(word));
    const std::uint64_t cut_end = std::min(end, end_of(word));
    const std::uint64_t left = cut_first - first_of(word);
    const std::uint64_t right = end_of(word) - cut_end;
    const bool splits = left != 0 && right != 0;
    std::uint64_t rest = 0;
    if (left != 0) {
      rest = word_of(first_of(word), left);
    } else if (right != 0) {
      rest = word_of(cut_end, right);
    }
    if (splits) splits_started_.fetch_add(1);
    const bool swapped = slot.compare_exchange_strong(word, rest);
    if (swapped && splits) place(cut_end, right);
    if (splits) splits_finished_.fetch_add(1);
    if (swapped) return cut_end - cut_first;
  }
  return 0;
}

std::size_t RangeTable::copy(std::span<Range> out) const noexcept {
  const std::size_t used = slots_used_.load();
  std::size_t count = 0;
  for (std::size_t i = 0; i < used && count < out.size(); ++i) {
    const std::uint64_t word = slots_[i].load();
    if (word != 0) out[count++] = range_of(word);
  }
  return merge(out.first(count));
}

bool RangeTable::contains(std::uintptr_t address) const noexcept {
  const std::uint64_t grain = address >> grain_shift;
  const std::size_t used = slots_used_.load();
  for (std::size_t i = 0; i < used; ++i) {
    const std::uint64_t word = slots_[i].load();
    if (word != 0 && first_of(word) <= grain && grain < end_of(word)) return true;
  }
  return false;
}

void RangeTable::forget_splits_in_transit() noexcept {
  splits_finished_.store(splits_started_.load());
}

}  // namespace cxltier::heap
