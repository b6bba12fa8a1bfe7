// SPDX-License-Identifier: Apache-2.0
//
// First demotions that make room, from the slowest tier up; then promotions, fastest tier first.
#include "policy/planner.h"

#include <algorithm>

#include "policy/admission.h"
#include "policy/check.h"

namespace cxltier {
namespace {

// A region that is cut to fit is cut at multiples of this, the pages of a huge page where pages
// are 4 KiB, so that the cut splits none.
constexpr std::uint32_t cut_granule_pages = 512;

// Pages of a tier, as a signed number: room can be negative.
using Room = std::int64_t;

// "No limit" may be any large number; signed sums stay far from overflow below this.
constexpr std::uint64_t pages_max = std::uint64_t{1} << 60;

Room room_of(Pages pages) { return static_cast<Room>(std::min(pages.count, pages_max)); }

std::size_t tier_count_of(const Limits& limits) {
  return std::min<std::size_t>(limits.tier_count, tiers_max);
}

// What a watermark keeps free of a capacity.
Room reserve_of(Pages capacity, std::uint16_t permille) {
  const Room all = room_of(capacity);
  return all / 1000 * permille + all % 1000 * permille / 1000;
}

Residence movable_by_tier(const Region& region, Direction direction, TierIndex to) {
  Residence movable{};
  for (std::size_t t = 0; t < tiers_max; ++t) {
    const bool is_source = direction == Direction::promote  ? t > index_of(to)
                           : direction == Direction::demote ? t < index_of(to)
                                                            : false;
    movable[t] = is_source ? region.resident[t] : 0;
  }
  return movable;
}

// The whole region if its pages are at most `most`, else a part of it that holds at most that many.
// pre: 1 <= most
Move shape_move(std::span<const Region> regions, const Rank& rank, Direction direction,
                std::uint64_t most) {
  const Region& region = regions[rank.region];
  const std::uint64_t movable = movable_pages(region, direction, rank.to).count;
  Move move{.region = rank.region,
            .first_page = region.first_page,
            .page_count = region.page_count,
            .direction = direction,
            .to = rank.to,
            .pages_expected = {movable}};
  if (movable <= most) return move;
  auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, region.page_count));
  if (length >= cut_granule_pages) length -= length % cut_granule_pages;
  move.page_count = std::min(length, region.page_count - region.next_offset);
  move.first_page.value += region.next_offset;
  move.pages_expected = {std::min<std::uint64_t>(move.page_count, movable)};
  return move;
}

// How strictly a victim is chosen.
//   any      the tier is over its limit: whatever is there
//   known    the tier is over its limit: what has a known heat
//   settled  making room: known, and not promoted lately
enum class Victims : std::uint8_t { any, known, settled };

// A plan as it grows.  `room` is what each tier may still take, up to its capacity, if the plan is
// carried out in order: demotions take from it at once and give only what is certain, promotions
// take at once and give nothing, since they come last.
class Draft {
 public:
  Draft(std::span<const Region> regions, const Limits& limits, const Parameters& parameters,
        std::span<Move> out, std::span<Rank> ranks)
      : regions_(regions), limits_(limits), parameters_(parameters), out_(out), ranks_(ranks) {
    budget_ = limits.moved_max.count;
    for (std::size_t t = 0; t < tier_count_of(limits); ++t) {
      room_[t] = room_of(limits.tiers[t].capacity) - room_of(limits.tiers[t].used);
    }
    for (Rank& rank : ranks) {
      rank.to = tier_none;
      rank.pages = 0;
    }
  }

  // Demotes the coldest out of a tier that is over its limit or short of free pages.
  void relieve(std::size_t tier) {
    const Pages capacity = limits_.tiers[tier].capacity;
    demote_until(tier, 0, Victims::known);
    demote_until(tier, 0, Victims::any);
    if (room_[tier] >= reserve_of(capacity, parameters_.free_low_permille)) return;
    demote_until(tier, reserve_of(capacity, parameters_.free_high_permille), Victims::settled);
  }

  // Promotes the hottest into a tier, where needed in place of colder regions.
  void exchange(std::size_t tier) {
    std::size_t victims_end = ranks_.size();  // those from here on were considered
    is_stuck_ = false;
    for (std::size_t i = 0; i < ranks_.size() && slots() > 0 && budget_ > 0; ++i) {
      if (!is_candidate(ranks_[i], tier)) continue;
      const std::size_t count_before = count_;
      victims_end = make_room(tier, i, victims_end);
      const bool has_displaced = count_ != count_before;
      // A part is worth a move if the candidate displaced others for it, or if it is a good piece
      // of the tier; otherwise leftovers of room would be filled page by page, for ever.
      const Room capacity = room_of(limits_.tiers[tier].capacity);
      grant(ranks_[i], tier, has_displaced ? 1 : capacity / 100);
    }
  }

  // Writes what exchange() granted, behind all demotions.
  std::size_t finish() {
    for (const Rank& rank : ranks_) {
      if (rank.pages == 0) continue;
      out_[count_++] = shape_move(regions_, rank, Direction::promote, rank.pages);
    }
    return count_;
  }

 private:
  [[nodiscard]] const Region& region(const Rank& rank) const { return regions_[rank.region]; }
  [[nodiscard]] std::size_t slots() const { return out_.size() - count_ - granted_; }

  [[nodiscard]] bool is_victim(const Rank& rank, std::size_t tier, Victims strictness) const {
    const Region& victim = region(rank);
    if (rank.to != tier_none || victim.resident[tier] == 0) return false;
    if (!may_retry(victim, limits_.now, parameters_)) return false;
    if (strictness == Victims::any) return true;
    if (!is_known(victim, parameters_)) return false;
    return strictness == Victims::known ||
           may_turn(victim, Direction::demote, limits_.now, parameters_);
  }

  [[nodiscard]] bool is_candidate(const Rank& rank, std::size_t tier) const {
    const Region& candidate = region(rank);
    const auto to = static_cast<TierIndex>(tier);
    return rank.to == tier_none && movable_pages(candidate, Direction::promote, to).count > 0 &&
           is_known(candidate, parameters_) && is_persistent(candidate, to, parameters_) &&
           may_retry(candidate, limits_.now, parameters_) &&
           may_turn(candidate, Direction::promote, limits_.now, parameters_);
  }

  // Demotes the coldest until at least `room_wanted` is free.  Parts of a region count by density,
  // since their true number is known only after the move; the next tick corrects it.
  void demote_until(std::size_t tier, Room room_wanted, Victims strictness) {
    Room missing = room_wanted - room_[tier];
    for (std::size_t i = ranks_.size(); i-- > 0 && missing > 0 && slots() > 0 && budget_ > 0;) {
      if (!is_victim(ranks_[i], tier, strictness)) continue;
      missing -= demote(ranks_[i], tier, static_cast<std::uint64_t>(missing), budget_);
    }
  }

  // Demotes a region, or about `wanted` pages of a long one, to the first slower tier with room.
  // Returns how many pages will probably leave `tier`; 0 if no tier has room.
  Room demote(Rank& rank, std::size_t tier, std::uint64_t wanted, std::uint64_t most) {
    most = std::min(most, std::max<std::uint64_t>(wanted, cut_granule_pages));
    rank.to = choose_demotion_tier(rank, tier, most);
    if (rank.to == tier_none) return 0;
    most = std::min(most, static_cast<std::uint64_t>(room_[index_of(rank.to)]));
    const Move move = shape_move(regions_, rank, Direction::demote, most);
    out_[count_++] = move;
    budget_ -= move.pages_expected.count;
    room_[index_of(rank.to)] -= static_cast<Room>(move.pages_expected.count);
    return credit_sources(move, tier);
  }

  // The first slower tier that takes all of it, else the first that takes any.
  [[nodiscard]] TierIndex choose_demotion_tier(const Rank& rank, std::size_t tier,
                                               std::uint64_t most) const {
    TierIndex partial = tier_none;
    for (std::size_t t = tier + 1; t < tier_count_of(limits_); ++t) {
      const auto to = static_cast<TierIndex>(t);
      const Pages movable = movable_pages(region(rank), Direction::demote, to);
      if (room_[t] >= static_cast<Room>(std::min(movable.count, most))) return to;
      if (room_[t] > 0 && partial == tier_none) partial = to;
    }
    return partial;
  }

  // Gives the pages that are certain to leave to their tiers.
  Room credit_sources(const Move& move, std::size_t tier) {
    const Region& victim = regions_[move.region];
    const Residence sources = movable_by_tier(victim, move.direction, move.to);
    for (std::size_t t = 0; t < tiers_max; ++t) {
      const std::uint64_t elsewhere = victim.page_count - sources[t];
      if (move.page_count > elsewhere) room_[t] += static_cast<Room>(move.page_count - elsewhere);
    }
    const std::uint64_t probably =
        std::uint64_t{sources[tier]} * move.page_count / victim.page_count;
    return std::max<Room>(1, static_cast<Room>(probably));
  }

  // What promotion may still fill.  If nothing can be demoted because slower tiers are full, the
  // reserve above free_low is lent, so that two full tiers can still trade places.
  [[nodiscard]] Room room_for_promotion(std::size_t tier) const {
    const std::uint16_t permille =
        is_stuck_ ? parameters_.free_low_permille : parameters_.free_high_permille;
    return room_[tier] - reserve_of(limits_.tiers[tier].capacity, permille);
  }

  // Demotes regions that the candidate at `position` beats, until it fits or none is left.
  // Returns the new end of those not yet considered: who does not fall to this candidate stays.
  std::size_t make_room(std::size_t tier, std::size_t position, std::size_t victims_end) {
    const Region& candidate = region(ranks_[position]);
    const auto needed = static_cast<Room>(
        movable_pages(candidate, Direction::promote, static_cast<TierIndex>(tier)).count);
    while (victims_end > position + 1) {
      const Room missing = needed - room_for_promotion(tier);
      // Half of the budget at most, or the candidate could not follow.
      if (missing <= 0 || slots() < 2 || budget_ < 2) return victims_end;
      Rank& victim = ranks_[victims_end - 1];
      if (is_victim(victim, tier, Victims::settled)) {
        if (!beats(candidate, region(victim), parameters_)) return victims_end;
        const auto wanted = static_cast<std::uint64_t>(missing);
        is_stuck_ = demote(victim, tier, wanted, budget_ / 2) == 0;
      }
      --victims_end;
    }
    return victims_end;
  }

  // Reserves what the candidate may have: all of it, or a part of at least `part_min`.
  void grant(Rank& rank, std::size_t tier, Room part_min) {
    const auto to = static_cast<TierIndex>(tier);
    const auto needed =
        static_cast<Room>(movable_pages(region(rank), Direction::promote, to).count);
    const Room room = room_for_promotion(tier);
    if (room <= 0 || (room < needed && room < part_min)) return;
    const auto pages = static_cast<std::uint64_t>(std::min(room, needed));
    rank.to = to;
    const Move move = shape_move(regions_, rank, Direction::promote, std::min(pages, budget_));
    rank.pages = static_cast<std::uint32_t>(move.pages_expected.count);
    budget_ -= rank.pages;
    room_[tier] -= rank.pages;
    ++granted_;
  }

  std::span<const Region> regions_;
  const Limits& limits_;
  const Parameters& parameters_;
  std::span<Move> out_;
  std::span<Rank> ranks_;
  std::array<Room, tiers_max> room_{};
  std::uint64_t budget_ = 0;
  std::size_t count_ = 0;    // moves written
  std::size_t granted_ = 0;  // promotions that finish() will write
  bool is_stuck_ = false;
};

// Pages of our regions that a tier may hold: its capacity less the reserve and less what is there
// but not ours.
std::array<Room, tiers_max> managed_room(std::span<const Region> regions, const Limits& limits,
                                         const Parameters& parameters) {
  std::array<Room, tiers_max> room{};
  for (const Region& region : regions) {
    for (std::size_t t = 0; t < tiers_max; ++t) room[t] += region.resident[t];
  }
  for (std::size_t t = 0; t < tier_count_of(limits); ++t) {
    const Room unmanaged = std::max<Room>(0, room_of(limits.tiers[t].used) - room[t]);
    room[t] =
        std::max<Room>(0, room_of(limits.tiers[t].capacity) - unmanaged -
                              reserve_of(limits.tiers[t].capacity, parameters.free_high_permille));
  }
  return room;
}

// Counts the scans in which a region earned its wish.  To earn less than before does not begin
// anew: who deserved a faster tier deserved this one too.
void note_wish(Region& region, TierIndex wish, TierIndex last) {
  const bool is_faster = region.wish == tier_none || wish < region.wish;
  if (wish == last) {
    region.epochs_hot = 0;
  } else if (is_faster) {
    region.epochs_hot = 1;
  } else if (region.epochs_hot < 0xffff) {
    ++region.epochs_hot;
  }
  region.wish = wish;
}

// The part of a region that is on the fastest tier, in fixed point.
std::uint64_t fast_share(const Region& region) {
  const std::uint64_t resident = std::max<std::uint64_t>(1, resident_pages(region).count);
  return (std::uint64_t{region.resident[0]} << 32) / resident;
}

// Deals the tiers out in the order of rank.
void deal_tiers(std::span<Region> regions, const Limits& limits, const Parameters& parameters,
                std::span<const Rank> ranks) {
  std::array<Room, tiers_max> room = managed_room(regions, limits, parameters);
  const std::size_t last = tier_count_of(limits) - 1;
  std::size_t tier = 0;
  for (const Rank& rank : ranks) {
    Region& region = regions[rank.region];
    while (tier < last && room[tier] == 0) ++tier;
    const auto wish = static_cast<TierIndex>(tier);
    auto rest = static_cast<Room>(resident_pages(region).count);
    for (std::size_t t = tier; t < last && rest > 0; ++t) {
      const Room taken = std::min(rest, room[t]);
      room[t] -= taken;
      rest -= taken;
    }
    if (is_known(region, parameters)) note_wish(region, wish, static_cast<TierIndex>(last));
  }
}

void note_turn(Region& region, Direction direction, Nanoseconds now, const Parameters& parameters) {
  const Nanoseconds pause =
      backoff_of(parameters.reversal_backoff, std::min(region.reversals, parameters.reversals_max));
  const bool is_turn = region.last_move != Direction::none && region.last_move != direction;
  if (is_turn && now - region.moved_at < backoff_of(pause, 2)) {
    if (region.reversals < parameters.reversals_max) ++region.reversals;
  } else if (is_turn && region.reversals > 0) {
    --region.reversals;
  }
  region.last_move = direction;
  region.moved_at = now;
}

// Moves the counts from the far end towards the tier, which is where a mover's pages come from if
// nothing else is known.
void note_placement(Region& region, const Move& move, std::uint64_t moved) {
  const std::size_t to = index_of(move.to);
  const std::size_t steps = move.direction == Direction::promote ? tiers_max - 1 - to : to;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t from = move.direction == Direction::promote ? tiers_max - 1 - step : step;
    const auto taken =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(region.resident[from], moved));
    region.resident[from] -= taken;
    region.resident[to] += taken;
    moved -= taken;
  }
}

}  // namespace

Pages movable_pages(const Region& region, Direction direction, TierIndex to) noexcept {
  Pages sum;
  for (const std::uint32_t pages : movable_by_tier(region, direction, to)) sum.count += pages;
  return sum;
}

void rank_regions(std::span<Region> regions, const Limits& limits, const Parameters& parameters,
                  std::span<Rank> ranks) noexcept {
  CXLTIER_CHECK(ranks.size() == regions.size());
  CXLTIER_CHECK_SLOW(is_valid(std::span<const Region>(regions)));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    ranks[i] = {.region = static_cast<std::uint32_t>(i), .score = score_of(regions[i])};
  }
  // Of equals, the one with the greater part on the fastest tier: it need not move.
  const auto is_before = [regions](const Rank& a, const Rank& b) {
    if (a.score != b.score) return a.score > b.score;
    const std::uint64_t fast_a = fast_share(regions[a.region]);
    const std::uint64_t fast_b = fast_share(regions[b.region]);
    return fast_a != fast_b ? fast_a > fast_b : a.region < b.region;
  };
  std::sort(ranks.begin(), ranks.end(), is_before);
  if (tier_count_of(limits) >= 2) deal_tiers(regions, limits, parameters, ranks);
}

std::size_t plan_moves(std::span<const Region> regions, const Limits& limits,
                       const Parameters& parameters, std::span<Move> out,
                       std::span<Rank> ranks) noexcept {
  CXLTIER_CHECK(ranks.size() == regions.size());
  CXLTIER_CHECK_DEBUG(is_valid(parameters));
  if (parameters.kind == PolicyKind::first_touch || tier_count_of(limits) < 2) return 0;
  Draft draft(regions, limits, parameters, out, ranks);
  for (std::size_t t = tier_count_of(limits) - 1; t-- > 0;) draft.relieve(t);
  for (std::size_t t = 0; t + 1 < tier_count_of(limits); ++t) draft.exchange(t);
  return draft.finish();
}

void record_outcome(Region& region, const Move& move, MoveCounts counts, Nanoseconds now,
                    const Parameters& parameters) noexcept {
  if (move.to == tier_none || index_of(move.to) >= tiers_max) return;
  const std::uint64_t end = move.first_page.value + move.page_count - region.first_page.value;
  region.next_offset = end < region.page_count ? static_cast<std::uint32_t>(end) : 0;
  if (counts.moved.count > 0) {
    note_turn(region, move.direction, now, parameters);
    note_placement(region, move, counts.moved.count);
  }
  if (counts.refused.count == 0) {
    region.refusals = 0;
  } else if (region.refusals < 0xff) {
    ++region.refusals;
    region.refused_at = now;
  }
}

}  // namespace cxltier
