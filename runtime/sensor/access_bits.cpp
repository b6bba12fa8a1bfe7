// SPDX-License-Identifier: Apache-2.0
//
// The layout in two storages that take turns, and the passes over smaps and numa_maps.
#include "runtime/sensor/access_bits.h"

#include <algorithm>

#include "policy/check.h"
#include "runtime/os/line_reader.h"

namespace cxltier {
namespace {

// One call clears at most this much: the worst page fault beside it waited 0.2 ms (4 KiB pages, 2
// vCPUs, Linux 6.18).
constexpr std::uint64_t cool_step = 64u << 20;

// More than this share of a region still touched right after cooling, and the rest says nothing.
constexpr std::uint32_t residue_share_max = 8;  // one eighth

std::uint64_t resident_pages(const Observation& seen) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t pages : seen.resident) sum += pages;
  return sum;
}

std::uint32_t saturated(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}  // namespace

NodeTiers::NodeTiers(const Machine& machine, const TierMap& tiers) noexcept : NodeTiers() {
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    tiers_[index_of(machine.nodes[i].id)] = tiers.tier_of[i];
  }
}

AccessBits::AccessBits(const AccessBitsSeams& seams, std::span<SensedRegion> regions,
                       std::span<SensedRegion> spare, Bytes page_size) noexcept
    : seams_(seams), regions_(regions), spare_(spare), page_size_(page_size), timer_(seams.clock) {
  CXLTIER_CHECK(regions.size() == spare.size() && page_size.count >= 1024);
}

void AccessBits::follow(std::span<const AddressRange> ranges, const LayoutLimits& limits) noexcept {
  CXLTIER_CHECK(limits.regions_max <= regions_.size());
  // Never finer than before: regions that shrink again would only shuffle VMAs.
  region_size_ = std::max(region_size_, choose_region_size(ranges, limits));
  relayout(ranges);
  CXLTIER_CHECK_SLOW(is_valid());
}

// A full region may lose pages later and get them back: from where is then as it was.
void AccessBits::grow(Growth growth) noexcept {
  growth_ = growth;
  for (SensedRegion& region : live()) {
    const bool heap = region.origin == SensedRegion::Origin::heap;
    const bool grows = growth == Growth::local || !region.full;
    if (heap && grows && region.growth != growth) split(region);
  }
}

// Writes a new layout into the spare storage, in order of address.
class AccessBits::Layout {
 public:
  Layout(std::span<const SensedRegion> before, std::span<SensedRegion> out) noexcept
      : before_(before), out_(out) {}

  // A region that is as it was keeps what is known of it.  Returns it if it is new, else null, also
  // when the storage is full or the range is taken.
  SensedRegion* add(AddressRange range, SensedRegion::Origin origin) noexcept {
    if (full() || range.begin < taken_to_) return nullptr;
    while (at_ < before_.size() && before_[at_].range.end <= range.begin) ++at_;
    const bool same = at_ < before_.size() && before_[at_].range == range;
    taken_to_ = range.end;
    SensedRegion& region = out_[count_++];
    region = same ? before_[at_] : SensedRegion{.range = range, .origin = origin};
    return same ? nullptr : &region;
  }
  [[nodiscard]] bool full() const noexcept { return count_ == out_.size(); }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::span<const SensedRegion> before_;
  std::span<SensedRegion> out_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::uintptr_t taken_to_ = 0;
};

void AccessBits::relayout(std::span<const AddressRange> ranges) noexcept {
  Layout layout(live(), spare_);
  const auto beside = std::span<const AddressRange>(beside_).first(beside_count_);
  std::size_t next = 0;
  for (AddressRange heap : ranges) {
    for (; next < beside.size() && beside[next].begin < heap.begin; ++next) {
      if (beside[next].end <= heap.begin) layout.add(beside[next], SensedRegion::Origin::beside);
    }
    AddressRange cut;
    while (!layout.full() && cut_regions({&heap, 1}, region_size_, {&cut, 1}) == 1) {
      heap.begin = cut.end;
      SensedRegion* fresh = layout.add(cut, SensedRegion::Origin::heap);
      if (fresh != nullptr) split(*fresh);
    }
  }
  for (; next < beside.size(); ++next) layout.add(beside[next], SensedRegion::Origin::beside);
  count_ = layout.count();
  std::swap(regions_, spare_);
}

// Gives a region the policy that makes it a VMA of its own, unless the application chose one.  A
// refusal (too many VMAs) is no error: the region is then seen as not whole.
void AccessBits::split(SensedRegion& region) noexcept {
  region.growth = growth_;
  const Result<PolicyOwner> owner = seams_.policy.owner_of(region.range.begin);
  if (!owner.ok() || owner.value() == PolicyOwner::application) return;
  const bool odd = (region.range.begin / region_size_.count) % 2 != 0;
  const RangePolicy policy = range_policy(growth_, odd ? Turn::odd : Turn::even);
  (void)timer_.time([&] { return seams_.policy.bind(region.range, policy); });
}

void AccessBits::cool(Cool which) noexcept {
  for (SensedRegion& region : live()) region.left = which == Cool::touched && region.clear;
  std::size_t first = 0;
  while (first < count_) {
    if (regions_[first].left) {
      ++first;
      continue;
    }
    std::size_t last = first + 1;
    std::uint64_t bytes = regions_[first].range.size();
    while (last < count_ && !regions_[last].left &&
           regions_[last].range.begin == regions_[last - 1].range.end &&
           bytes + regions_[last].range.size() <= cool_step) {
      bytes += regions_[last++].range.size();
    }
    cool_run(first, last);
    first = last;
  }
  cooled_at_ = seams_.clock.now();
}

// One call for adjacent regions; where it refuses, region by region, to find the one to blame.
void AccessBits::cool_run(std::size_t first, std::size_t last) noexcept {
  const AddressRange run{regions_[first].range.begin, regions_[last - 1].range.end};
  const bool cooled = timer_.time([&] { return seams_.policy.cool(run); }).ok();
  for (SensedRegion& region : live().subspan(first, last - first)) {
    region.residue_kib = 0;
    const bool done = cooled || timer_.time([&] { return seams_.policy.cool(region.range); }).ok();
    region.cooling = done ? SensedRegion::Cooling::done : SensedRegion::Cooling::refused;
  }
}

Result<Done> AccessBits::read_residue() noexcept { return read_smaps(Pass::residue); }

Result<std::size_t> AccessBits::read(const NodeTiers& tiers, std::span<Observation> out) noexcept {
  CXLTIER_CHECK(out.size() >= count_);
  for (SensedRegion& region : live()) {
    region.touched_kib = 0;
    region.whole = true;
    region.application_policy = false;
  }
  view_ = {};
  if (const Result<Done> read = read_smaps(Pass::touched); !read.ok()) return Error{read.error()};
  end_window();
  for (std::size_t i = 0; i < count_; ++i) out[i] = observation_of(regions_[i]);
  const Result<Done> read = read_numa_maps(tiers, out.first(count_));
  if (!read.ok()) return Error{read.error()};
  for (std::size_t i = 0; i < count_; ++i) {
    regions_[i].full = resident_pages(out[i]) >= out[i].page_count;
    fit_to_window(regions_[i], out[i]);
  }
  return drop_hands_off(out.first(count_));
}

void AccessBits::end_window() noexcept {
  const Nanoseconds now = seams_.clock.now();
  window_ = now - cooled_at_;
  const auto window = static_cast<double>(window_.count);
  const auto since = static_cast<double>((now - read_at_).count);
  window_share_ = since > 0 ? std::min(window / since, 1.0) : 1.0;
  read_at_ = now;
}

// Of the touches since the last read, only what the window alone would have shown counts.  Touches
// that come at random reach the share 1 - (1 - f)^w of the pages in the part w of the time; this is
// the nearest form without libm that is exact at both ends:
//
//   odds = f / (1 - f)  -->  w * odds
//
// Rounded up as often as the fraction says (steps of the golden ratio), so that nothing rare is
// lost and no region is favoured.
void AccessBits::fit_to_window(SensedRegion& region, Observation& seen) noexcept {
  const bool untouched = region.touched_kib == 0 && region.residue_kib == 0;
  const bool heap = region.origin == SensedRegion::Origin::heap;
  region.clear = heap && untouched && seen.visibility == Visibility::seen;
  if (!region.left || seen.touched_pages == 0) return;
  const std::uint64_t resident = resident_pages(seen);
  const double touched = seen.touched_pages;
  const double others =
      static_cast<double>(std::max<std::uint64_t>(resident, seen.touched_pages)) - touched;
  const double odds = touched * window_share_;
  rounding_ += 0.6180339887;
  if (rounding_ >= 1) rounding_ -= 1;
  const double shown = (others + touched) * odds / (odds + others);
  seen.touched_pages = static_cast<std::uint32_t>(shown + rounding_);
}

std::size_t AccessBits::drop_hands_off(std::span<Observation> out) const noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const bool hands_off =
        regions_[i].application_policy || regions_[i].cooling == SensedRegion::Cooling::refused;
    if (!hands_off) out[kept++] = out[i];
  }
  return kept;
}

Observation AccessBits::observation_of(const SensedRegion& region) const noexcept {
  const std::uint64_t kib_per_page = page_size_.count / 1024;
  std::uint32_t touched_kib =
      region.touched_kib > region.residue_kib ? region.touched_kib - region.residue_kib : 0;
  // Of a mapping beside the heap no page is told from the others: it is one piece, touched if any
  // of it is.  All of them together are small.
  if (region.origin == SensedRegion::Origin::beside && touched_kib > 0) {
    touched_kib = saturated(region.range.size() / 1024);
  }
  const bool shared = region.residue_kib > region.range.size() / 1024 / residue_share_max;
  const bool seen = region.cooling == SensedRegion::Cooling::done && region.whole && !shared;
  return {
      .first_page = {region.range.begin / page_size_.count},
      .page_count = saturated(region.range.size() / page_size_.count),
      .touched_pages = saturated(touched_kib / kib_per_page),
      .visibility = seen ? Visibility::seen : Visibility::unknown,
      .resident = {},
  };
}

Result<Done> AccessBits::read_smaps(Pass pass) noexcept {
  LineReader lines(seams_.smaps);
  SensedRegion* region = nullptr;
  VmaLine vma;
  if (pass == Pass::touched) beside_count_ = 0;
  while (const std::optional<std::string_view> line = lines.next()) {
    // A VMA begins with its address in small hexadecimal digits, a field with a capital letter.
    if (line->empty() || line->front() < 'A' || line->front() > 'Z') {
      const std::optional<VmaLine> head = parse_vma_line(*line);
      if (!head) continue;
      vma = *head;
      region = claim(vma, pass);
    } else if (const std::optional<SmapsValue> value = parse_smaps_value(*line)) {
      if (pass == Pass::touched) note_value(vma, region, *value);
      if (region == nullptr || value->field != SmapsField::referenced) continue;
      std::uint32_t& sum = pass == Pass::touched ? region->touched_kib : region->residue_kib;
      sum = saturated(sum + value->kib);
    }
  }
  if (lines.error() != 0) return Error{lines.error()};
  return Done{};
}

void AccessBits::note_value(const VmaLine& vma, const SensedRegion* region,
                            const SmapsValue& value) noexcept {
  const bool in_heap = region != nullptr && region->origin == SensedRegion::Origin::heap;
  if (value.field == SmapsField::huge && in_heap) view_.huge_kib += value.kib;
  if (value.field == SmapsField::resident && !in_heap && vma.writable_private) {
    note_beside(vma.range, value.kib);
  }
}

void AccessBits::note_beside(AddressRange vma, std::uint64_t resident_kib) noexcept {
  const bool fits = resident_kib > 0 && resident_kib <= beside_resident_kib_max &&
                    vma.size() <= beside_bytes_max && beside_count_ < beside_max;
  if (fits) beside_[beside_count_++] = vma;
}

// The region that has this VMA to itself, or none: then every region that it touches is not whole.
SensedRegion* AccessBits::claim(const VmaLine& vma, Pass pass) noexcept {
  std::size_t i = first_ending_after(vma.range.begin);
  if (i < count_ && regions_[i].range.covers(vma.range)) {
    const bool heap = regions_[i].origin == SensedRegion::Origin::heap;
    return (heap ? vma.anonymous_private : vma.writable_private) ? &regions_[i] : nullptr;
  }
  for (; pass == Pass::touched && i < count_ && regions_[i].range.begin < vma.range.end; ++i) {
    regions_[i].whole = false;
  }
  return nullptr;
}

Result<Done> AccessBits::read_numa_maps(const NodeTiers& tiers,
                                        std::span<Observation> out) noexcept {
  LineReader lines(seams_.numa_maps);
  while (const std::optional<std::string_view> text = lines.next()) {
    const std::optional<NumaMapsLine> line = parse_numa_maps_line(*text);
    if (!line) continue;
    ++view_.vma_count;
    if (!line->anonymous || (line->page_kib != 0 && line->page_kib * 1024 != page_size_.count)) {
      continue;
    }
    const std::size_t i = first_ending_after(line->begin);
    const bool inside = i < count_ && regions_[i].range.contains(line->begin);
    if (inside && line->application_policy) regions_[i].application_policy = true;
    for (const NumaMapsLine::NodePages& on : std::span(line->nodes).first(line->node_count)) {
      view_.anonymous_pages[index_of(on.node)] += on.pages;
      const TierIndex tier = tiers.of(on.node);
      if (!inside || tier == tier_none) continue;
      std::uint32_t& resident = out[i].resident[index_of(tier)];
      resident = saturated(resident + on.pages);
    }
  }
  if (lines.error() != 0) return Error{lines.error()};
  return Done{};
}

std::size_t AccessBits::first_ending_after(std::uintptr_t address) const noexcept {
  const auto regions = live();
  return static_cast<std::size_t>(
      std::upper_bound(
          regions.begin(), regions.end(), address,
          [](std::uintptr_t at, const SensedRegion& region) { return at < region.range.end; }) -
      regions.begin());
}

bool AccessBits::is_valid() const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (regions_[i].range.size() == 0) return false;
    if (i > 0 && regions_[i].range.begin < regions_[i - 1].range.end) return false;
  }
  return true;
}

}  // namespace cxltier
