// SPDX-License-Identifier: Apache-2.0
//
// Reservation, bump allocation and commit of the slots.
#include "allocator/tier_space.h"

#include <algorithm>
#include <bit>

#include "allocator/pages.h"

namespace cxltier::heap {
namespace {

// 16 TiB: above programs that are linked to fixed addresses, below everything that the kernel
// places by itself on machines with 47 address bits or more.
#if defined(__SANITIZE_THREAD__)
constexpr std::uintptr_t preferred_begin = 0;  // ThreadSanitizer watches no memory there
#else
constexpr std::uintptr_t preferred_begin = std::uintptr_t{1} << 44;
#endif

void raise_to(std::atomic<std::uintptr_t>& mark, std::uintptr_t value) noexcept {
  std::uintptr_t now = mark.load();
  while (now < value && !mark.compare_exchange_weak(now, value)) {
  }
}

std::uintptr_t round_up(std::uintptr_t value, std::size_t step) noexcept {
  return (value + step - 1) & ~(std::uintptr_t{step} - 1);
}

}  // namespace

bool TierSpace::reserve(std::size_t slot_bytes_wanted) noexcept {
  const std::size_t wanted = std::clamp(slot_bytes_wanted, slot_bytes_min, slot_bytes_max);
  for (std::size_t bytes = std::bit_ceil(wanted); bytes >= slot_bytes_min; bytes /= 2) {
    if (reserve_exactly(bytes)) return true;
  }
  return false;
}

// Slots are aligned to their size, so that a shift finds the slot; a reservation at another place
// than the preferred one is made one slot longer for that.
bool TierSpace::reserve_exactly(std::size_t slot_bytes) noexcept {
  const std::size_t bytes = slot_bytes * slots_max;
  std::uintptr_t begin = reserve_addresses(preferred_begin, bytes);
  if (begin != 0 && begin % slot_bytes != 0) {
    release_addresses({begin, begin + bytes});
    begin = reserve_addresses(0, bytes + slot_bytes);
    if (begin != 0) {
      const Range whole{begin, begin + bytes + slot_bytes};
      begin = round_up(begin, slot_bytes);
      release_addresses({whole.begin, begin});
      release_addresses({begin + bytes, whole.end});
    }
  }
  if (begin == 0) return false;
  for (std::size_t i = 0; i < slots_max; ++i) {
    slots_[i].next.store(begin + i * slot_bytes);
    slots_[i].committed.store(begin + i * slot_bytes);
  }
  slot_shift_.store(static_cast<unsigned>(std::countr_zero(slot_bytes)));
  begin_.store(begin);
  end_.store(begin + bytes);
  return true;
}

bool TierSpace::contains(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at < end() && at >= begin_.load(std::memory_order_relaxed);
}

std::size_t TierSpace::slot_of(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return (at - begin_.load(std::memory_order_relaxed)) >>
         slot_shift_.load(std::memory_order_relaxed);
}

Range TierSpace::addresses_of(std::size_t slot) const noexcept {
  const std::size_t bytes = std::size_t{1} << slot_shift_.load();
  const std::uintptr_t begin = begin_.load() + slot * bytes;
  return {begin, begin + bytes};
}

Range TierSpace::used_part_of(std::size_t slot) const noexcept {
  return {addresses_of(slot).begin,
          std::min(slots_[slot].next.load(), slots_[slot].committed.load())};
}

void* TierSpace::take(std::size_t slot, std::size_t size, std::size_t alignment) noexcept {
  Slot& from = slots_[slot];
  const std::uintptr_t slot_end = addresses_of(slot).end;
  std::uintptr_t next = from.next.load();
  std::uintptr_t first = 0;
  do {
    first = round_up(next, alignment);
    if (first >= slot_end || size > slot_end - first) return nullptr;
  } while (!from.next.compare_exchange_weak(next, first + size));
  if (commit(from, first + size, slot_end)) {
    return reinterpret_cast<void*>(first);  // NOLINT(performance-no-int-to-ptr)
  }
  std::uintptr_t taken = first + size;
  from.next.compare_exchange_strong(taken, next);  // else only addresses are lost
  return nullptr;
}

// Two threads may open the same addresses: once more does no harm.
bool TierSpace::commit(Slot& slot, std::uintptr_t needed_end, std::uintptr_t slot_end) noexcept {
  const std::uintptr_t committed = slot.committed.load();
  if (needed_end <= committed) return true;
  const std::uintptr_t step_end = std::min(round_up(needed_end, commit_step), slot_end);
  if (open_addresses({committed, step_end})) {
    raise_to(slot.committed, step_end);
    return true;
  }
  // Where the kernel counts what may be written (overcommit_memory=2), no more than is needed.
  if (!open_addresses({committed, needed_end})) return false;
  raise_to(slot.committed, needed_end);
  return true;
}

void TierSpace::reset(std::size_t slot) noexcept {
  const Range used = used_part_of(slot);
  if (used.end > used.begin) discard_pages(used);
  slots_[slot].next.store(used.begin);
}

}  // namespace cxltier::heap
