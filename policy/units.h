// SPDX-License-Identifier: Apache-2.0
//
// Quantities that must not be mixed, kept apart by the compiler.
//
// An index, a count and a size are three things.  A page is the OS page of the machine; its size is
// a value (Machine::page_size), never a constant, since it is 4, 16 or 64 KiB depending on the
// machine.  Pure values: any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace cxltier {

// The kernel's number of a NUMA node, 0 to 1023.  Numbers may be sparse.
enum class NodeId : std::uint16_t {};

// A rank of nodes as one process sees it: 0 is fastest.
enum class TierIndex : std::uint8_t {};
inline constexpr TierIndex tier_none{0xff};

inline constexpr std::size_t node_ids_max = 1024;  // MAX_NUMNODES of any kernel we know
inline constexpr std::size_t nodes_max = 64;       // nodes with memory that one process uses
inline constexpr std::size_t tiers_max = 8;

constexpr std::size_t index_of(NodeId node) { return static_cast<std::size_t>(node); }
constexpr std::size_t index_of(TierIndex tier) { return static_cast<std::size_t>(tier); }

// A count of pages.
struct Pages {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Pages, Pages) = default;
  friend constexpr Pages operator+(Pages a, Pages b) { return {a.count + b.count}; }
  friend constexpr Pages& operator+=(Pages& a, Pages b) { return a = a + b; }
};

// A size.
struct Bytes {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

// A virtual address divided by the page size.
struct PageIndex {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(PageIndex, PageIndex) = default;
};

// A duration or a point on the monotonic clock.
struct Nanoseconds {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Nanoseconds, Nanoseconds) = default;
  friend constexpr Nanoseconds operator+(Nanoseconds a, Nanoseconds b) {
    return {a.count + b.count};
  }
  // Saturates at 0, so that a clock that steps back cannot become an age of 584 years.
  friend constexpr Nanoseconds operator-(Nanoseconds a, Nanoseconds b) {
    return {a.count > b.count ? a.count - b.count : 0};
  }
};

constexpr Nanoseconds milliseconds(std::uint64_t count) { return {count * 1'000'000}; }
constexpr Nanoseconds seconds(std::uint64_t count) { return {count * 1'000'000'000}; }

constexpr Bytes bytes_of(Pages pages, Bytes page_size) { return {pages.count * page_size.count}; }
constexpr Pages pages_of(Bytes bytes, Bytes page_size) { return {bytes.count / page_size.count}; }

// Heat: how much of a region was touched between two scans, as a share of its pages.
// 0 is untouched, heat_max is every page touched.  Fixed point, so that every machine agrees.
struct Heat {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(Heat, Heat) = default;
};
inline constexpr std::uint16_t heat_max = 0xffff;

}  // namespace cxltier
