// SPDX-License-Identifier: Apache-2.0
//
// Candidates are gathered in one pass for each tier, sorted, and walked until the share, the room,
// the budget or the reasons to move run out.
#include "policy/leaf_planner.h"

#include <algorithm>

#include "policy/check.h"
#include "policy/interleave.h"

namespace cxltier {
namespace {

// Pages move in pieces of a huge page where a leaf is cut, so that none is split.
constexpr std::uint32_t piece_pages = 512;
constexpr std::uint32_t key_slot_bits = 7;
// Codes that count as equally hot: 256 of 2048 are an eighth of an octave, 9 %.
constexpr std::uint32_t key_heat_bits = 8;
constexpr std::uint32_t code_octave = 1u << rate_mantissa_bits;

// Touches of a page in a window, from which on nearly all pages have been touched: 1 - exp(-3) is
// 95 %.
constexpr std::uint64_t saturated_touches = 3;
// Pieces of such leaves that may be shed in one tick.  Arbitrary: fewer take too long to find the
// balance, more pass it.
constexpr std::uint32_t unknown_pieces_max = 16;

using Room = std::int64_t;
constexpr std::uint64_t pages_bound = std::uint64_t{1} << 60;
Room room_of(Pages pages) { return static_cast<Room>(std::min(pages.count, pages_bound)); }

// The best `half` of what is pushed, by key; of equals the leaf that came first.
class Choices {
 public:
  explicit Choices(std::span<LeafChoice> memory) : memory_(memory) {}

  void push(LeafChoice choice) {
    if (choice.key < least_) return;
    if (count_ == memory_.size()) shrink();
    if (choice.key < least_) return;
    memory_[count_++] = choice;
  }

  std::span<LeafChoice> sorted() {
    std::sort(memory_.begin(), end(), is_before);
    return memory_.first(count_);
  }

 private:
  static bool is_before(const LeafChoice& a, const LeafChoice& b) {
    return a.key != b.key ? a.key > b.key : a.leaf < b.leaf;
  }
  [[nodiscard]] std::span<LeafChoice>::iterator end() const {
    return memory_.begin() + static_cast<std::ptrdiff_t>(count_);
  }
  void shrink() {
    const std::size_t half = count_ / 2;
    std::nth_element(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(half), end(),
                     is_before);
    count_ = half;
    least_ = memory_[half].key;
  }

  std::span<LeafChoice> memory_;
  std::size_t count_ = 0;
  std::uint32_t least_ = 0;
};

class Draft {
 public:
  Draft(std::span<Leaf> leaves, const PlanInput& input, const Parameters& parameters,
        const PlanMemory& memory)
      : leaves_(leaves), in_(input), parameters_(parameters), memory_(memory) {
    for (std::size_t t = 0; t < in_.tier_count; ++t) {
      room_[t] = room_of(in_.capacity[t]) - room_of(in_.used[t]);
    }
    budget_ = in_.pages_max;
  }

  void relieve(std::size_t tier) {
    if (room_[tier] >= 0) return;
    for (const LeafChoice& choice : gather_on(tier, Order::coldest, half(0))) {
      if (room_[tier] >= 0 || is_full()) return;
      // A limit is kept whatever the budget says.
      const auto over = static_cast<std::uint64_t>(-room_[tier]);
      budget_ = std::max(budget_, over);
      const std::size_t to = lower_tier(tier, over);
      if (room_[to] <= 0) say(leaves_[choice.leaf], Verdict::no_room);
      move(choice.leaf, to, over, Verdict::relieved);
    }
  }

  void balance(std::size_t tier) {
    const std::uint32_t band = parameters_.share_band_1024 * (share16_one / 1024);
    const std::uint32_t share = in_.share[tier];
    const std::uint32_t target = in_.target[tier];
    if (target == share16_max) {
      raise(tier, share16_one, Why::rank);
    } else if (target > share + band) {
      raise(tier, target - share, Why::share);
    } else if (share > target + band) {
      lower(tier, share - target);
    }
  }

  void spread() {
    for (std::size_t i = 0; i < leaves_.size() && !is_full() && budget_ > 0; ++i) {
      Leaf& leaf = leaves_[i];
      if (leaf.pages == 0) continue;
      const std::size_t to = tier_of_slot(slot_of(static_cast<std::uint32_t>(i)));
      const std::uint32_t pages = pages_to_move(leaf, static_cast<TierIndex>(to));
      if (pages == 0) {
        say(leaf, Verdict::in_place);
      } else if (room_[to] <= 0) {
        say(leaf, Verdict::no_room);
      } else {
        move(static_cast<std::uint32_t>(i), to, pages, Verdict::spread);
      }
    }
  }

  [[nodiscard]] const PlanResult& result() const { return result_; }

 private:
  enum class Order : std::uint8_t { hottest, coldest, shed };
  // rank: hottest to fastest, admission asked.  share: the balancer wants the traffic moved.
  enum class Why : std::uint8_t { rank, share };

  static void say(Leaf& leaf, Verdict verdict) {
    leaf.verdict = static_cast<std::uint8_t>(verdict) & 0x1f;
  }
  [[nodiscard]] bool is_full() const { return result_.moves == memory_.moves.size(); }
  [[nodiscard]] std::span<LeafChoice> half(std::size_t index) const {
    const std::size_t size = memory_.choices.size() / 2;
    return memory_.choices.subspan(index * size, size);
  }

  [[nodiscard]] std::uint64_t value(const Leaf& leaf) const {
    return value_of(leaf, in_.short_32, weight_16_of(leaf, in_.kind, parameters_));
  }
  // Share of all value that `pages` of a leaf carry, of 2^24.
  [[nodiscard]] std::uint64_t share_q24(const Leaf& leaf, std::uint64_t pages) const {
    return (value(leaf) * pages << 8) / ((in_.mass >> 16) + 1);
  }

  // Access bits cannot tell how hot it is, only that it is hotter than this: moving it would shift
  // an unknown share.
  [[nodiscard]] bool is_saturated(const Leaf& leaf) const {
    return in_.kind == SampleKind::bits && in_.noise.touch_q22 != 0 &&
           linear_of(leaf.rate_long) > saturated_touches * in_.noise.touch_q22;
  }

  [[nodiscard]] std::uint32_t key_of(std::uint32_t index, Order order) const {
    const Leaf& leaf = leaves_[index];
    const std::uint32_t heat = rate_of(value(leaf)).code >> key_heat_bits;
    const std::uint32_t slot = slots - 1 - slot_of(index);
    const bool is_stream = leaf.pattern == static_cast<std::uint8_t>(Pattern::stream) &&
                           parameters_.mechanisms.stream_test;
    const std::uint32_t first = order == Order::shed && is_stream ? 0x100u : 0u;
    std::uint32_t rank = order == Order::coldest ? 0xffu - heat : heat;
    if (order == Order::shed && is_saturated(leaf)) rank = 0;
    return (first | rank) << key_slot_bits | slot;
  }

  // Leaves with pages on `tier`.
  std::span<LeafChoice> gather_on(std::size_t tier, Order order, std::span<LeafChoice> memory,
                                  std::uint32_t coldest_max = 0xffff) {
    Choices choices(memory);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      const bool is_there = leaf.tier == tier || (leaf.away != 0 && leaf.other == tier);
      if (leaf.pages == 0 || !is_there) continue;
      const Rate least = std::min(leaf.rate_short, leaf.rate_long);
      if (order == Order::coldest && least.code > coldest_max) continue;
      const auto index = static_cast<std::uint32_t>(i);
      choices.push({index, key_of(index, order)});
    }
    return choices.sorted();
  }

  // Leaves with pages on tiers slower than `tier` that earn it, or, if the balancer asks, any.
  std::span<LeafChoice> gather_below(std::size_t tier, Why why, std::span<LeafChoice> memory) {
    Choices choices(memory);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      if (why == Why::rank && leaf.wish > tier && leaf.away == 0) continue;
      const bool is_below = leaf.tier > tier || (leaf.away != 0 && leaf.other > tier);
      if (!is_below || leaf.pages == 0) continue;
      if (leaf.rate_long.code == 0 && leaf.rate_short.code == 0) continue;
      const auto index = static_cast<std::uint32_t>(i);
      choices.push({index, key_of(index, Order::hottest)});
    }
    return choices.sorted();
  }

  // The next slower tier with room for some pages, else the slowest.
  [[nodiscard]] std::size_t lower_tier(std::size_t tier, std::uint64_t pages) const {
    for (std::size_t t = tier + 1; t + 1 < in_.tier_count; ++t) {
      if (room_[t] >= static_cast<Room>(pages)) return t;
    }
    return in_.tier_count - std::size_t{1};
  }

  [[nodiscard]] std::size_t tier_of_slot(std::uint32_t slot) const {
    std::uint32_t end = 0;
    for (std::size_t t = 0; t + 1 < in_.tier_count; ++t) {
      end += in_.slots_of[t];
      if (slot < end) return t;
    }
    return in_.tier_count - std::size_t{1};
  }

  // Pages of a leaf on tiers slower than `tier`.
  [[nodiscard]] static std::uint64_t pages_below(const Leaf& leaf, std::size_t tier) {
    std::uint64_t pages = leaf.tier > tier ? pages_on(leaf, leaf.tier) : 0;
    if (leaf.away != 0 && leaf.other > tier) pages += pages_on(leaf, leaf.other);
    return pages;
  }

  // One bit for each 4,096th leaf, and a search where it is set.
  [[nodiscard]] bool is_planned(std::uint32_t index) const {
    if ((planned_[index / 64 % planned_.size()] >> (index % 64) & 1) == 0) return false;
    const auto moves = memory_.moves.first(result_.moves);
    return std::ranges::any_of(moves, [index](const LeafMove& m) { return m.leaf == index; });
  }

  // Plans `pages` of a leaf, or as many as budget and room allow, in whole pieces; returns how
  // many.
  std::uint64_t move(std::uint32_t index, std::size_t to, std::uint64_t pages, Verdict reason) {
    Leaf& leaf = leaves_[index];
    const std::uint64_t there = pages_to_move(leaf, static_cast<TierIndex>(to));
    const auto room = static_cast<std::uint64_t>(std::max<Room>(0, room_[to]));
    std::uint64_t count = std::min({pages, there, budget_, room});
    if (count < there) count -= count % piece_pages;
    if (count == 0 || is_full() || is_planned(index)) return 0;
    const std::size_t from = leaf.tier == to ? leaf.other : leaf.tier;
    const auto share = static_cast<std::int32_t>(share_q24(leaf, count) >> 8);
    memory_.moves[result_.moves++] = {.leaf = index,
                                      .from = static_cast<TierIndex>(from),
                                      .to = static_cast<TierIndex>(to),
                                      .pages = {count},
                                      .reason = reason};
    planned_[index / 64 % planned_.size()] |= std::uint64_t{1} << (index % 64);
    room_[to] -= static_cast<Room>(count);
    // Of a leaf of more than 65,536 pages the count on a tier is rounded.
    room_[from] += static_cast<Room>(count - std::min<std::uint64_t>(count, leaf.pages >> 16));
    budget_ -= count;
    result_.shifted[to] += share;
    result_.shifted[from] -= share;
    const auto direction = to < from ? Direction::promote : Direction::demote;
    if (is_ranked(reason) && is_reversal(leaf, direction)) ++result_.turns;
    say(leaf, reason);
    return count;
  }

  [[nodiscard]] static bool is_turn(const Leaf& leaf, Direction direction) {
    const auto last = static_cast<Direction>(leaf.last_move);
    return last != Direction::none && last != direction;
  }

  // A turn that came soon: within four times the pause.  A later one is a leaf that cooled.
  [[nodiscard]] bool is_reversal(const Leaf& leaf, Direction direction) const {
    const Nanoseconds pause = backoff_of(parameters_.reversal_backoff, leaf.reversals);
    return is_turn(leaf, direction) && leaf_age(leaf.moved_at, in_.now) < backoff_of(pause, 2);
  }

  [[nodiscard]] bool waits_turn(const Leaf& leaf, Direction direction) const {
    if (!parameters_.mechanisms.admission || !is_turn(leaf, direction)) return false;
    const Nanoseconds pause = backoff_of(parameters_.reversal_backoff, leaf.reversals);
    return leaf_age(leaf.moved_at, in_.now) < pause;
  }

  [[nodiscard]] bool waits_retry(const Leaf& leaf) const {
    // A time to come is less than half of the clock's ring ahead.
    const auto ahead = static_cast<std::uint16_t>(leaf.retry_at - leaf_clock(in_.now));
    return leaf.refusals > 0 && ahead != 0 && ahead < 0x8000;
  }

  // Whether a leaf may go up at all; `promoted` if so.
  [[nodiscard]] Verdict admit(const Leaf& leaf, std::size_t tier, Why why) const {
    if (waits_retry(leaf)) return Verdict::waits_retry;
    if (!parameters_.mechanisms.admission) return Verdict::promoted;
    if (leaf.scans < parameters_.scans_min) return Verdict::waits_scans;
    if (why == Why::share) return Verdict::promoted;
    if (leaf.wish > tier) return Verdict::in_place;
    if (leaf.epochs < parameters_.epochs_hot_min) return Verdict::waits_epochs;
    return waits_turn(leaf, Direction::promote) ? Verdict::waits_turn : Verdict::promoted;
  }

  // Variance of one observation of a leaf at this rate, in (touches per second)^2 and 2^-20.
  [[nodiscard]] std::uint64_t variance_q20(Rate rate, const Leaf& leaf) const {
    const std::uint64_t all = std::max(1u, leaf.pages);
    const std::uint64_t pages =
        in_.noise.sampled_pages == 0 ? all : std::min<std::uint64_t>(all, in_.noise.sampled_pages);
    const std::uint64_t unit_q10 = std::max<std::uint64_t>(1, (in_.noise.touch_q22 >> 12) / pages);
    return (linear_of(rate) >> 12) * unit_q10;
  }

  // Of an average that has seen `scans` scans.
  [[nodiscard]] static std::uint64_t kept(std::uint64_t variance, std::uint32_t part_q16,
                                          std::uint32_t scans) {
    const std::uint32_t young_q16 = 65536u / std::max(1u, scans);
    return (variance >> 8) * std::max(part_q16, young_q16) >> 8;
  }

  // The difference of two rates stands out of their noise.
  [[nodiscard]] bool stands_out(const Leaf& hot, Rate hot_rate, const Leaf& cold, Rate cold_rate,
                                std::uint32_t part_q16) const {
    if (in_.noise.touch_q22 == 0) return true;
    if (hot_rate <= cold_rate) return false;
    const std::uint64_t gap_q10 = (linear_of(hot_rate) - linear_of(cold_rate)) >> 12;
    const std::uint64_t variance_q20 =
        kept(this->variance_q20(hot_rate, hot), part_q16, hot.scans) +
        kept(this->variance_q20(cold_rate, cold), part_q16, cold.scans);
    // sigmas = m/16: gap^2 > (m/16)^2 variance.
    const std::uint64_t sigma_16 = parameters_.margin_sigma_16;
    const std::uint64_t bound = (variance_q20 >> 4) * (sigma_16 * sigma_16) >> 4;
    return gap_q10 >= (std::uint64_t{1} << 32) || gap_q10 * gap_q10 > bound;
  }

  // Hotter by a margin and by more than noise: in steady mode by both averages, since each alone is
  // deceived, the short one by noise, the long one by what is over.
  [[nodiscard]] bool beats(const Leaf& hot, const Leaf& cold) const {
    if (!parameters_.mechanisms.admission) return value(hot) > value(cold);
    const std::uint32_t margin_256 = 256u + parameters_.margin_share_256;
    const std::uint64_t weight_hot = weight_16_of(hot, in_.kind, parameters_);
    const std::uint64_t weight_cold = weight_16_of(cold, in_.kind, parameters_);
    const bool is_recent = in_.pacing == Pacing::recency;
    const Rate least = is_recent ? hot.rate_short : std::min(hot.rate_short, hot.rate_long);
    const Rate most = is_recent ? cold.rate_short : std::max(cold.rate_short, cold.rate_long);
    if (linear_of(least) * weight_hot * 256 <= linear_of(most) * weight_cold * margin_256) {
      return false;
    }
    // Leaves of another weight differ by what they are, not by chance.
    if (weight_hot != weight_cold) return true;
    return is_recent ? stands_out(hot, hot.rate_short, cold, cold.rate_short, in_.noise.short_q16)
                     : stands_out(hot, hot.rate_long, cold, cold.rate_long, in_.noise.long_q16);
  }

  // Whether shifting `share_q24` of the traffic up from `slow` to `fast` earns back what moving
  // `pages` costs, in time of the application, within the leaf's horizon.
  [[nodiscard]] bool earns(const Leaf& leaf, std::uint64_t share_q24, std::uint64_t pages,
                           std::size_t fast) const {
    const std::size_t slow = std::max<std::size_t>(leaf.tier, fast + 1);
    const std::uint64_t fast_ps = in_.latency_ps[fast];
    const std::uint64_t slow_ps = in_.latency_ps[slow];
    if (!parameters_.mechanisms.admission || fast_ps == 0 || slow_ps == 0) return true;
    if (slow_ps <= fast_ps) return false;
    const std::uint64_t steady_us = leaf.epochs * (in_.tick.count / 1000);
    const std::uint64_t horizon_us = std::clamp(steady_us, parameters_.horizon_min.count / 1000,
                                                parameters_.horizon_max.count / 1000);
    const std::uint64_t busy_us = share_q24 * horizon_us >> 24;
    const std::uint64_t gain_us =
        busy_us * (slow_ps - fast_ps) / std::max<std::uint64_t>(1, in_.mean_latency_ps);
    const std::uint64_t cost_us = pages * in_.page_cost_ns / 1000;
    return gain_us * 16 > cost_us * parameters_.cost_factor_16;
  }

  // Demotes leaves that the candidate beats until `pages` fit; says why not if they will not.
  Verdict displace(const Leaf& candidate, std::size_t tier, std::uint64_t pages, Why why) {
    if (victims_tier_ != tier) {
      // Who is an octave above what the tier asks for falls to nobody.
      const std::uint32_t safe = std::uint32_t{in_.earned_from[tier].code} + code_octave;
      victims_ = gather_on(tier, Order::coldest, half(1), safe);
      victims_tier_ = tier;
      next_victim_ = 0;
    }
    const auto needed = static_cast<Room>(pages);
    for (; next_victim_ < victims_.size() && room_[tier] < needed; ++next_victim_) {
      if (budget_ < 2 * piece_pages) return Verdict::waits_budget;
      const std::uint32_t index = victims_[next_victim_].leaf;
      const Leaf& victim = leaves_[index];
      if (is_planned(index) || waits_retry(victim)) continue;
      if (waits_turn(victim, Direction::demote)) continue;
      if (!beats(candidate, victim)) return Verdict::below_margin;
      const std::uint64_t gained = share_q24(candidate, pages) -
                                   std::min(share_q24(candidate, pages), share_q24(victim, pages));
      if (why == Why::rank && !earns(candidate, gained, 2 * pages, tier))
        return Verdict::below_cost;
      const auto missing = static_cast<std::uint64_t>(needed - std::max<Room>(0, room_[tier]));
      const std::uint64_t wanted = std::min(missing + piece_pages - 1, budget_ / 2);
      if (move(index, lower_tier(tier, wanted), wanted, Verdict::demoted) == 0) {
        return Verdict::no_room;
      }
      // What is left of it may fall to the next candidate only in the next tick.
    }
    return room_[tier] >= std::min<Room>(needed, piece_pages) ? Verdict::promoted
                                                              : Verdict::no_room;
  }

  // Pages of `wanted` whose share is at most `left`, at least one piece.
  [[nodiscard]] std::uint64_t cut(const Leaf& leaf, std::uint64_t wanted,
                                  std::uint64_t left_q24) const {
    const std::uint64_t share = share_q24(leaf, wanted);
    if (share <= left_q24) return wanted;
    const std::uint64_t pages = wanted * left_q24 / share;
    const std::uint64_t piece = std::min<std::uint64_t>(wanted, piece_pages);
    // A last piece that overshoots by more than it misses is left.
    if (pages < piece) return 2 * left_q24 >= share_q24(leaf, piece) ? piece : 0;
    return pages - pages % piece;
  }

  void raise(std::size_t tier, std::uint32_t share, Why why) {
    if (why == Why::rank && in_.wishes == 0) return;
    std::uint64_t left_q24 = std::uint64_t{share} << 8;
    const auto candidates = gather_below(tier, why, half(0));
    Verdict stop = Verdict::promoted;  // why the rest stays, once it does
    for (const LeafChoice& choice : candidates) {
      Leaf& leaf = leaves_[choice.leaf];
      if (is_planned(choice.leaf)) continue;
      if (stop == Verdict::promoted && (is_full() || budget_ == 0)) stop = Verdict::waits_budget;
      if (stop != Verdict::promoted) {
        say(leaf, stop);
        continue;
      }
      const Verdict admitted = admit(leaf, tier, why);
      if (admitted != Verdict::promoted) {
        say(leaf, admitted);
        continue;
      }
      stop = raise_one(choice.leaf, tier, left_q24, why);
    }
  }

  // Moves one candidate up; `promoted`, or why neither it nor any colder one goes.
  Verdict raise_one(std::uint32_t index, std::size_t tier, std::uint64_t& left_q24, Why why) {
    Leaf& leaf = leaves_[index];
    const std::uint64_t pages = cut(leaf, std::min(pages_below(leaf, tier), budget_), left_q24);
    if (pages == 0) return Verdict::share_is_met;
    if (room_[tier] < static_cast<Room>(pages)) {
      const Verdict verdict = displace(leaf, tier, pages, why);
      if (verdict != Verdict::promoted) return say_and_stop(leaf, verdict);
    } else if (why == Why::rank && !earns(leaf, share_q24(leaf, pages), pages, tier)) {
      return say_and_stop(leaf, Verdict::below_cost);
    }
    const Verdict reason = why == Why::rank ? Verdict::promoted : Verdict::balanced_up;
    const std::uint64_t moved = move(index, tier, pages, reason);
    left_q24 -= std::min(left_q24, share_q24(leaf, moved));
    return left_q24 == 0 ? Verdict::share_is_met : Verdict::promoted;
  }

  static Verdict say_and_stop(Leaf& leaf, Verdict verdict) {
    say(leaf, verdict);
    return verdict;
  }

  void lower(std::size_t tier, std::uint32_t share) {
    std::uint32_t unknown_pieces = 0;
    std::uint64_t left_q24 = std::uint64_t{share} << 8;
    const Order order = in_.shed == Shed::coldest ? Order::coldest : Order::shed;
    for (const LeafChoice& choice : gather_on(tier, order, half(0))) {
      Leaf& leaf = leaves_[choice.leaf];
      if (left_q24 == 0 || is_full() || budget_ == 0) return;
      if (is_planned(choice.leaf)) continue;
      if (waits_retry(leaf)) {
        say(leaf, Verdict::waits_retry);
        continue;
      }
      std::uint64_t pages = cut(leaf, pages_on(leaf, tier), left_q24);
      if (pages == 0) continue;
      // A piece of each in a tick: what that shifts shows in the latencies only.
      const bool is_unknown = is_saturated(leaf) && order == Order::shed;
      if (is_unknown && unknown_pieces++ == unknown_pieces_max) return;
      if (is_unknown) pages = std::min<std::uint64_t>(pages, piece_pages);
      const bool is_stream = leaf.pattern == static_cast<std::uint8_t>(Pattern::stream);
      const Verdict reason = is_stream ? Verdict::shed_stream : Verdict::balanced_down;
      const std::uint64_t moved = move(choice.leaf, lower_tier(tier, pages), pages, reason);
      if (moved == 0) say(leaf, Verdict::no_room);
      left_q24 -= std::min(left_q24, share_q24(leaf, moved));
    }
  }

  [[nodiscard]] static bool is_ranked(Verdict reason) {
    return reason == Verdict::promoted || reason == Verdict::demoted;
  }

  std::span<Leaf> leaves_;
  const PlanInput& in_;
  const Parameters& parameters_;
  const PlanMemory& memory_;
  std::array<Room, tiers_max> room_{};
  std::uint64_t budget_ = 0;
  PlanResult result_;
  std::array<std::uint64_t, 64> planned_{};
  std::span<LeafChoice> victims_;
  std::size_t victims_tier_ = tiers_max;
  std::size_t next_victim_ = 0;
};

}  // namespace

PlanResult plan_leaves(std::span<Leaf> leaves, const PlanInput& input, const Parameters& parameters,
                       const PlanMemory& memory) noexcept {
  CXLTIER_CHECK(input.tier_count >= 2 && input.tier_count <= tiers_max);
  CXLTIER_CHECK(memory.choices.size() >= 4);
  Draft draft(leaves, input, parameters, memory);
  for (std::size_t t = input.tier_count - std::size_t{1}; t-- > 0;) draft.relieve(t);
  const bool is_spread =
      std::ranges::any_of(input.slots_of, [](std::uint8_t count) { return count != 0; });
  if (is_spread) draft.spread();
  for (std::size_t t = 0; !is_spread && t + 1 < input.tier_count; ++t) draft.balance(t);
  return draft.result();
}

}  // namespace cxltier
