// SPDX-License-Identifier: Apache-2.0
//
// Which regions of our own memory were touched, from the processor's access bits.  Unprivileged, no
// PMU, no faults, every kernel since 5.4.
//
//   follow   cut the heap into regions; neighbours get two policies of one effect in turn, so that
//            each region is a VMA of its own
//   cool     clear the access bits (MADV_COLD, which flushes the TLB), remember what stayed set
//     ...    the program runs
//   read     smaps tells per VMA how much was touched since, numa_maps on which nodes it lies
//
// Clearing costs most of a scan, and takes pages from the kernel's active list.  A region that the
// last read saw untouched has nothing to clear: it is left alone, and the next read sees what was
// touched since that read, a longer time than this window.  Its figure is brought down to what the
// window would have shown.
//
// Why MADV_COLD and not clear_refs: that one does not flush the TLB, so a thread that keeps running
// on a small hot set is read as cold, and it holds the memory lock of the process for the whole
// walk.
//
// What it cannot see is "unknown", never "hot" or "cold": pages that another process maps too keep
// their bits (a fork child lives), and a region whose VMA reaches beyond it (the kernel refused the
// split) shares its figures with its neighbour.  Left out altogether, so that nothing moves them,
// are regions that the program placed by a policy of its own and regions that it locked (MADV_COLD
// refuses those).
//
// Only the allocator's memory is split: the program may mremap other memory, and growing across two
// VMAs fails.  Small mappings beside the heap (stacks, globals, a library's data) are regions as
// they are, one VMA each: little memory, but the hottest of all.
//
// Called only from the controller's thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "policy/machine.h"
#include "runtime/os/address_range.h"
#include "runtime/os/call_timer.h"
#include "runtime/os/memory_policy.h"
#include "runtime/os/process_text.h"
#include "runtime/sensor/maps_text.h"
#include "runtime/sensor/observation.h"
#include "runtime/sensor/region_layout.h"

namespace cxltier {

// The tier of each node id, for looking up what numa_maps prints.
class NodeTiers {
 public:
  NodeTiers() noexcept { tiers_.fill(tier_none); }
  NodeTiers(const Machine& machine, const TierMap& tiers) noexcept;
  [[nodiscard]] TierIndex of(NodeId node) const noexcept {
    return index_of(node) < tiers_.size() ? tiers_[index_of(node)] : tier_none;
  }

 private:
  std::array<TierIndex, node_ids_max> tiers_;
};

// One region of the layout and what the sensor knows of it.
struct SensedRegion {
  AddressRange range;
  enum class Origin : std::uint8_t { heap, beside } origin = Origin::heap;
  std::uint32_t touched_kib = 0;
  std::uint32_t residue_kib = 0;  // still marked touched right after cooling: not ours to see
  enum class Cooling : std::uint8_t { never, done, refused } cooling = Cooling::never;
  bool whole = true;                // it has its VMAs to itself
  bool clear = false;               // no bit was set at the last read
  bool left = false;                // its bits were not cleared for this window
  bool application_policy = false;  // at the last read: the program placed it, hands off
  bool full = false;                // at the last read: every page was there
  Growth growth = Growth::local;    // the policy that it was given
};

// Mappings beside the heap that are small enough to be regions as they are.
inline constexpr std::size_t beside_max = 128;
inline constexpr std::uint64_t beside_bytes_max = 16u << 20;        // of addresses
inline constexpr std::uint64_t beside_resident_kib_max = 4u << 10;  // of memory in it

// What a scan saw beyond the regions.
struct ProcessView {
  std::uint64_t vma_count = 0;
  std::uint64_t huge_kib = 0;  // transparent huge pages inside regions
  std::array<std::uint64_t, node_ids_max> anonymous_pages{};  // of the whole process, by node id
};

struct AccessBitsSeams {
  MemoryPolicy& policy;
  ProcessText& smaps;
  ProcessText& numa_maps;
  Clock& clock;
};

class AccessBits {
 public:
  // `regions` and `spare` are storage of equal size, which bounds the number of regions.
  AccessBits(const AccessBitsSeams& seams, std::span<SensedRegion> regions,
             std::span<SensedRegion> spare, Bytes page_size) noexcept;

  // Adapts the layout to the heap: new memory gets regions, and splits VMAs.
  // pre: `ranges` sorted and disjoint, fewer than limits.regions_max
  void follow(std::span<const AddressRange> ranges, const LayoutLimits& limits) noexcept;

  // Where pages that regions lack shall come from, now and in regions to come.
  void grow(Growth growth) noexcept;

  // Clears the access bits, in steps of at most 64 MiB: of every region, or of those only that the
  // last read saw touched.
  // pre: not `touched` if read_residue() follows, which takes what is left in a region for foreign
  enum class Cool : std::uint8_t { all, touched };
  void cool(Cool which) noexcept;

  // Reads back, right after cool(), which bits would not clear.  Costs as much as a read; needed
  // only while other processes may map our pages.
  Result<Done> read_residue() noexcept;

  // One observation per region that the runtime may move, in order of address; returns how many.
  // pre: out.size() >= size()
  Result<std::size_t> read(const NodeTiers& tiers, std::span<Observation> out) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const ProcessView& view() const noexcept { return view_; }
  [[nodiscard]] Bytes region_size() const noexcept { return region_size_; }
  // How long the bits were open, before the last read.
  [[nodiscard]] Nanoseconds window() const noexcept { return window_; }
  [[nodiscard]] Nanoseconds longest_call() const noexcept { return timer_.longest(); }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  class Layout;
  enum class Pass : std::uint8_t { touched, residue };

  [[nodiscard]] std::span<SensedRegion> live() const noexcept { return regions_.first(count_); }
  void relayout(std::span<const AddressRange> ranges) noexcept;
  void split(SensedRegion& region) noexcept;
  void note_value(const VmaLine& vma, const SensedRegion* region, const SmapsValue& value) noexcept;
  void note_beside(AddressRange vma, std::uint64_t resident_kib) noexcept;
  void cool_run(std::size_t first, std::size_t last) noexcept;
  void end_window() noexcept;
  void fit_to_window(SensedRegion& region, Observation& seen) noexcept;
  Result<Done> read_smaps(Pass pass) noexcept;
  Result<Done> read_numa_maps(const NodeTiers& tiers, std::span<Observation> out) noexcept;
  std::size_t drop_hands_off(std::span<Observation> out) const noexcept;
  SensedRegion* claim(const VmaLine& vma, Pass pass) noexcept;
  [[nodiscard]] std::size_t first_ending_after(std::uintptr_t address) const noexcept;
  [[nodiscard]] Observation observation_of(const SensedRegion& region) const noexcept;

  AccessBitsSeams seams_;
  std::span<SensedRegion> regions_;
  std::span<SensedRegion> spare_;
  std::size_t count_ = 0;
  std::array<AddressRange, beside_max> beside_{};  // as the last read saw them, sorted
  std::size_t beside_count_ = 0;
  Bytes page_size_;
  Bytes region_size_{};
  Growth growth_ = Growth::local;
  Nanoseconds cooled_at_{};  // begin of the window
  Nanoseconds read_at_{};    // its end, at the last read
  Nanoseconds window_{};
  double window_share_ = 1;  // of the time since the read before
  double rounding_ = 0;      // see fit_to_window
  ProcessView view_;
  CallTimer timer_;
};

}  // namespace cxltier
