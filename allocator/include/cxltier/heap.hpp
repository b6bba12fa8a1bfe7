// SPDX-License-Identifier: Apache-2.0
//
// What the heap tells the runtime: which addresses it owns, and when it has grown.
//
// There is one heap per process.  Nothing here allocates, takes a lock or blocks, so every call is
// allowed on every thread, inside an allocator lock and in a fork child, except where it says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxltier::heap {

// The addresses [begin, end).
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

// More ranges than this cannot be recorded; a span of this size holds every answer of copy_ranges.
inline constexpr std::size_t ranges_max = 4096;

// Forces the allocator's own start-up, so that its fork handlers are registered before those of the
// caller.  Idempotent.  The heap itself works without it, from the first malloc of the loader.
// Not inside an allocator lock: it allocates.
void initialize() noexcept;

// Writes the ranges that the heap has mapped and not unmapped; returns how many it wrote.
// post: sorted by address, disjoint, adjacent ones merged.  When `out` is full there may be more.
// Ranges that other threads are mapping or unmapping meanwhile may or may not be there.
std::size_t copy_ranges(std::span<Range> out) noexcept;

// How many ranges were not recorded for lack of space; copy_ranges does not know them.
std::uint64_t ranges_lost() noexcept;

// Bytes that the heap has mapped and not unmapped, those of lost ranges included.
std::uint64_t mapped_bytes() noexcept;

// What a hook wants next: `done` disarms it, `again` calls it again after some more allocations.
enum class Attention { done, again };

// Runs on the application's thread that happens to allocate, before its allocation, with no lock of
// the allocator held: it may allocate and create threads.  `caller` is the address that malloc will
// return to.
using AttentionHook = Attention (*)(const void* caller) noexcept;

// Asks for one call of `hook` from the first allocation after the heap has mapped at least
// `mapped_bytes_at_least`.  The hook runs on one thread at a time and never inside itself; after
// `again` it waits for about a thousand allocations.  A new request replaces the former one, also
// when the hook itself makes it.  A null hook disarms.  A fork child inherits the request.
// pre: no other request is made at the same time; while a hook runs, only the hook makes one
void request_attention(std::uint64_t mapped_bytes_at_least, AttentionHook hook) noexcept;

}  // namespace cxltier::heap
