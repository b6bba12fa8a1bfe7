// SPDX-License-Identifier: Apache-2.0
//
// The parts in the order of the picture in tiering.h; what each hands to the next.
#include "policy/tiering.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

// Weight of a new measurement of what a page costs to move.
constexpr std::uint64_t cost_weight = 16;
constexpr std::uint32_t probes_steady = 8;    // 18 us each: 0.03 % of a core for two tiers
constexpr std::uint32_t probes_seeking = 40;  // 0.15 %
constexpr std::uint32_t jump_probes_min = 6;
constexpr Nanoseconds tick_shortest = milliseconds(100);
// Own moves beyond this share make latencies before and after incomparable.
constexpr std::int32_t own_shift_max = share16_one / 100;
// The least noise of a share that is believed: half a percent.
constexpr std::int64_t share_noise = share16_one / 200;

Share16 share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return 0;
  const std::uint64_t share = part / ((whole >> 16) + 1);
  return static_cast<Share16>(std::min<std::uint64_t>(share, share16_max));
}

// The part of a sample's variance that stays in an average: a / (2 - a), a = 1 - retained.
std::uint32_t kept_q16(Nanoseconds interval, Nanoseconds time_constant) {
  const Share32 weight = share_one - retained_share(interval, time_constant);
  return static_cast<std::uint32_t>((weight << 16) / (2 * share_one - weight));
}

std::uint64_t micro_of(std::uint64_t linear) {
  return (linear * 15625) >> (rate_fraction_bits - 6);  // 10^6 / 2^22 = 15625 / 2^16
}

bool is_spread_kind(PolicyKind kind) {
  return kind == PolicyKind::fixed_ratio || kind == PolicyKind::interleave;
}

// 128 slots in proportion to weights.
std::array<std::uint8_t, tiers_max> slots_in(const std::array<std::uint32_t, tiers_max>& weights,
                                             std::size_t tier_count) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < tier_count; ++t) sum += weights[t];
  std::array<std::uint8_t, tiers_max> slots_of{};
  std::uint32_t dealt = 0;
  std::uint64_t passed = 0;
  for (std::size_t t = 0; sum > 0 && t < tier_count; ++t) {
    passed += weights[t];
    const auto end = static_cast<std::uint32_t>((passed * slots + sum / 2) / sum);
    slots_of[t] = static_cast<std::uint8_t>(end - dealt);
    dealt = end;
  }
  return slots_of;
}

}  // namespace

Tiering::Tiering(const TieringConfig& config, const TieringMemory& memory) noexcept
    : config_(config), memory_(memory), page_cost_ns_(config.parameters.page_cost_ns) {
  CXLTIER_CHECK(is_valid(config.parameters));
  CXLTIER_CHECK(memory.choices.size() >= 4);
  target_.fill(share16_max);
  for (Rate& from : fill_.earned_from) from = {0xffff};
}

std::uint32_t Tiering::short_32() const noexcept {
  return is_recent() ? config_.parameters.recency_short_32 : config_.parameters.score_short_32;
}

std::uint64_t Tiering::traffic() const noexcept {
  std::uint64_t mass = 0;
  for (std::size_t t = 0; t < tier_count_; ++t) mass += survey_.mass[t];
  return mass;
}

void Tiering::place_leaves(const TickInput& input) noexcept {
  for (const LeafPlacement& placement : input.placements) {
    CXLTIER_CHECK(placement.leaf < memory_.leaves.size());
    place_leaf(memory_.leaves[placement.leaf], placement.resident, placement.call_site);
  }
}

void Tiering::survey(const TickInput& input) noexcept {
  const bool is_seen = input.coverage == Coverage::all_seen;
  unseen_ = unseen_ + input.elapsed;
  survey_ = survey_leaves(memory_.leaves,
                          {.samples = input.samples,
                           .kind = input.kind,
                           .coverage = input.coverage,
                           .window = input.window,
                           .elapsed = unseen_,
                           .now = input.now,
                           .short_32 = short_32(),
                           .earned_from = fill_.earned_from},
                          config_.parameters);
  if (is_seen) {
    scan_interval_ = unseen_;
    unseen_ = {};
  }
  for (const LeafSample& sample : input.samples) {
    const Leaf& leaf = memory_.leaves[sample.leaf];
    if (leaf.call_site != 0) sites_.learn(leaf.call_site, leaf.rate_long);
  }
  std::array<std::uint64_t, tiers_max> room{};
  for (std::size_t t = 0; t < tier_count_; ++t) {
    used_[t] = input.tiers[t].used;
    capacity_[t] = input.tiers[t].capacity;
    // What is there but not ours cannot be filled.
    const std::uint64_t foreign = used_[t].count - std::min(used_[t].count, survey_.pages[t]);
    room[t] = capacity_[t].count - std::min(capacity_[t].count, foreign);
  }
  fill_ = fill_tiers(survey_, room, tier_count_);
  const std::uint64_t mass = traffic();
  for (std::size_t t = 0; t < tier_count_; ++t) share_[t] = share_of(survey_.mass[t], mass);
}

// Takes over what was probed.  A median that doubles at once is an outlier until enough batches say
// the same: one in twenty batches meets an interruption.
void Tiering::read_latencies(const TickInput& input) noexcept {
  mean_latency_ps_ = 0;
  for (std::size_t t = 0; t < tier_count_; ++t) {
    const std::uint32_t raw = input.tiers[t].latency_ps;
    const bool is_jump = latency_ps_[t] != 0 && raw / 2 > latency_ps_[t];
    jump_probes_[t] = is_jump ? jump_probes_[t] + std::max(1u, input.tiers[t].probes) : 0;
    if (raw != 0 && (!is_jump || jump_probes_[t] >= jump_probes_min)) latency_ps_[t] = raw;
    const std::uint32_t idle = input.tiers[t].latency_idle_ps;
    const std::uint32_t lowest = idle_ps_[t] == 0 ? latency_ps_[t] : idle_ps_[t];
    idle_ps_[t] = idle != 0 ? idle : std::min(lowest, std::max(1u, latency_ps_[t]));
    mean_latency_ps_ += std::uint64_t{share_[t]} * latency_ps_[t];
  }
  mean_latency_ps_ /= share16_one;
}

void Tiering::note_change() noexcept {
  ++changes_;
  recency_left_ = config_.parameters.recency_ticks;
  balancer_.reset();
  guard_.release();
  heat_change_.reset();
  for (ChangeDetector& detector : latency_change_) detector.reset();
}

// Two kinds of change: traffic that went elsewhere without a move of ours, and latency that changed
// without one.
void Tiering::detect_change(const TickInput& input) noexcept {
  const Parameters& parameters = config_.parameters;
  if (recency_left_ > 0) --recency_left_;
  const std::int64_t residual = std::int64_t{share_[0]} - last_share_ - own_shift_;
  const std::int32_t own = own_shift_ < 0 ? -own_shift_ : own_shift_;
  last_share_ = share_[0];
  moved_share_ = static_cast<Share16>(std::min<std::int32_t>(own, share16_max));
  own_shift_ = 0;
  if (!parameters.mechanisms.change_detector) return;
  bool has_changed = heat_change_.observe(residual, share_noise, parameters) != Change::none;
  for (std::size_t t = 0; t < latency_change_.size() && t < tier_count_; ++t) {
    if (own > own_shift_max) latency_change_[t].reset();
    if (input.tiers[t].latency_ps == 0) continue;
    const std::int64_t noise =
        std::int64_t{latency_ps_[t]} * parameters.probe_sigma_permille / 2000 + 1;
    has_changed |= latency_change_[t].observe(latency_ps_[t], noise, parameters) != Change::none;
  }
  if (has_changed) note_change();
}

// As little on the fastest tier as the slowdown allows:  (1 - x) (slow - fast) = slowdown * fast.
void Tiering::aim_capacity() noexcept {
  target_.fill(share16_max);
  const std::uint64_t fast = latency_ps_[0];
  const std::uint64_t slow = latency_ps_[1];
  if (fast == 0 || slow <= fast) return;
  const std::uint64_t away =
      fast * config_.parameters.slowdown_permille * share16_one / 1000 / (slow - fast);
  target_[0] = static_cast<Share16>(share16_max - std::min<std::uint64_t>(away, share16_max));
}

void Tiering::aim_slots(const TickInput& input) noexcept {
  std::array<std::uint32_t, tiers_max> weights{};
  if (config_.parameters.kind == PolicyKind::fixed_ratio) {
    std::copy(config_.ratio.begin(), config_.ratio.end(), weights.begin());
    slots_of_ = slots_in(weights, tier_count_);
    return;
  }
  const std::uint64_t written = survey_.mass_written;
  const std::uint64_t all = std::max(survey_.mass_all, written);
  const auto write_share_256 = static_cast<std::uint16_t>(written / ((all >> 8) + 1));
  std::array<std::uint32_t, tiers_max> mbps{};
  for (std::size_t t = 0; t < tier_count_; ++t) {
    const TierReading& tier = input.tiers[t];
    mbps[t] = bandwidth_at({tier.read_mbps, tier.write_mbps, tier.duplex}, write_share_256);
  }
  const Weights solved = solve_weights(mbps, tier_count_);
  std::copy(solved.begin(), solved.end(), weights.begin());
  slots_of_ = slots_in(weights, tier_count_);
}

void Tiering::aim(const TickInput& input) noexcept {
  target_.fill(share16_max);
  if (is_spread_kind(config_.parameters.kind)) return aim_slots(input);
  if (config_.parameters.kind == PolicyKind::capacity) return aim_capacity();
  if (config_.parameters.kind != PolicyKind::balance) return;
  BalanceInput now{.tier_count = tier_count_, .share = share_, .moved = moved_share_};
  const std::uint64_t mass = traffic();
  now.probes = ~0u;
  for (std::size_t t = 0; t < tier_count_; ++t) {
    now.share_max[t] = share_of(fill_.mass_max[t], mass);
    now.latency_ps[t] = input.tiers[t].latency_ps == 0 ? 0 : latency_ps_[t];
    now.idle_ps[t] = idle_ps_[t];
    now.probes = std::min(now.probes, input.tiers[t].probes);
  }
  target_ = balancer_.aim(now, config_.parameters);
}

// Time of the application that recent moves gain in this tick, against what was spent.
GuardState Tiering::guard(const TickInput& input) noexcept {
  const std::int64_t gap = std::int64_t{latency_ps_[1]} - latency_ps_[0];
  const std::uint64_t mean = std::max<std::uint64_t>(1, mean_latency_ps_);
  const std::uint64_t mass = traffic();
  const std::int64_t won =
      std::int64_t{share_of(survey_.mass_promoted, mass)} - share_of(survey_.mass_demoted, mass);
  const auto elapsed_us = static_cast<std::int64_t>(input.elapsed.count / 1000);
  const std::int64_t saved_us =
      won * elapsed_us / share16_one * gap / static_cast<std::int64_t>(mean);
  const std::uint64_t cpus = std::max(1u, config_.cpus);
  const std::uint64_t elapsed_ms = std::max<std::uint64_t>(1, input.elapsed.count / 1'000'000);
  const std::uint64_t speed = input.progress != 0     ? input.progress * 1000 / elapsed_ms
                              : mean_latency_ps_ != 0 ? 1'000'000'000'000 / mean_latency_ps_
                                                      : 0;
  const GuardState state = guard_.observe({.now = input.now,
                                           .elapsed = input.elapsed,
                                           .saved_ns = saved_us * 1000,
                                           .spent_ns = (spent_ns_ + input.sensor_cpu.count) / cpus,
                                           .moves = ranked_moves_,
                                           .reversals = turns_,
                                           .speed = speed},
                                          config_.parameters);
  spent_ns_ = 0;
  ranked_moves_ = turns_ = 0;
  return state;
}

MoveLoad Tiering::move_load(const TickInput& input) const noexcept {
  const std::size_t slowest = tier_count_ - std::size_t{1};
  return {.slow_mbps = input.tiers[slowest].read_mbps,
          .slow_latency_ps = latency_ps_[slowest],
          .slow_latency_idle_ps = idle_ps_[slowest],
          .page_cost_ns = page_cost_ns_,
          .page_size = config_.page_size,
          .cpus = config_.cpus,
          .pacing = is_recent() ? Pacing::recency : Pacing::steady};
}

// One touch of one sampled page in one window, as a rate, and how much of it the averages keep.
NoiseUnit Tiering::noise_unit(const TickInput& input) const noexcept {
  const std::uint64_t window_us = std::max<std::uint64_t>(1, input.window.count / 1000);
  const bool is_bits = input.kind == SampleKind::bits;
  return {.touch_q22 = (std::uint64_t{1'000'000} << rate_fraction_bits) / window_us,
          .sampled_pages = is_bits ? input.sampled_pages : 0,
          .short_q16 = kept_q16(scan_interval_, heat_short_time),
          .long_q16 = kept_q16(scan_interval_, heat_long_time)};
}

std::size_t Tiering::plan(const TickInput& input, GuardState state) noexcept {
  const Parameters& parameters = config_.parameters;
  budget_.fill(move_rate(move_load(input), parameters), input.elapsed);
  PlanInput wanted{.now = input.now,
                   .tier_count = tier_count_,
                   .used = used_,
                   .capacity = capacity_,
                   .latency_ps = latency_ps_,
                   .mean_latency_ps = mean_latency_ps_,
                   .share = share_,
                   .target = target_,
                   .mass = traffic(),
                   .wishes = survey_.wishes,
                   .earned_from = fill_.earned_from,
                   .short_32 = short_32(),
                   .kind = kind_,
                   .noise = noise_unit(input),
                   .page_cost_ns = page_cost_ns_ / std::max(1u, config_.cpus),
                   .tick = is_recent() ? parameters.tick_recency : parameters.tick_steady,
                   .pacing = is_recent() ? Pacing::recency : Pacing::steady,
                   .shed = parameters.kind == PolicyKind::capacity ? Shed::coldest : Shed::hottest,
                   .slots_of = slots_of_};
  for (std::size_t t = 0; t < tier_count_; ++t) {
    const bool is_held = state == GuardState::freeze || target_[t] == share16_max;
    if (state != GuardState::run && is_held) wanted.target[t] = share_[t];
  }
  if (state != GuardState::run) wanted.slots_of = {};
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, budget_.bytes()));
  wanted.pages_max = std::min(pages_of({bytes}, config_.page_size).count, input.moved_max.count);
  const PlanResult result =
      plan_leaves(memory_.leaves, wanted, parameters, {memory_.choices, memory_.moves});
  turns_ += result.turns;
  return result.moves;
}

TieringMode Tiering::mode() const noexcept {
  if (guard_.state() == GuardState::hold) return TieringMode::hold;
  if (guard_.state() == GuardState::freeze) return TieringMode::freeze;
  return is_recent() ? TieringMode::recency : TieringMode::steady;
}

TickPlan Tiering::tick(const TickInput& input) noexcept {
  CXLTIER_CHECK(input.tier_count <= tiers_max);
  tier_count_ = input.tier_count;
  kind_ = input.kind;
  place_leaves(input);
  survey(input);
  // first-touch has no interval of its own.
  TickPlan answer{.moves = {}, .next = std::max(config_.parameters.tick_steady, tick_shortest)};
  if (config_.parameters.kind == PolicyKind::first_touch || tier_count_ < 2) return answer;
  read_latencies(input);
  detect_change(input);
  aim(input);
  const GuardState state = guard(input);
  answer.moves = memory_.moves.first(plan(input, state));
  answer.mode = mode();
  if (is_recent()) answer.next = config_.parameters.tick_recency;
  const bool is_seeking = config_.parameters.kind == PolicyKind::balance &&
                          balancer_.phase() != ShareBalancer::Phase::rest;
  answer.probes_per_s = is_seeking || is_recent() ? probes_seeking : probes_steady;
  return answer;
}

void Tiering::record(const LeafMove& move, const LeafOutcome& outcome, Nanoseconds now) noexcept {
  CXLTIER_CHECK(move.leaf < memory_.leaves.size());
  if (move.to == tier_none || index_of(move.to) >= tiers_max) return;
  const Parameters& parameters = config_.parameters;
  Leaf& leaf = memory_.leaves[move.leaf];
  const bool is_up = move.to < move.from;
  const bool is_ranked = move.reason == Verdict::promoted || move.reason == Verdict::demoted;
  budget_.spend(bytes_of(outcome.moved, config_.page_size));
  if (outcome.refused.count > 0) {
    note_refusal(leaf, now, parameters.refusal_backoff, parameters.refusals_max);
  }
  if (outcome.moved.count == 0) return;
  moved_ += outcome.moved;
  const std::uint64_t mass = traffic();
  const std::uint64_t value =
      value_of(leaf, short_32(), weight_16_of(leaf, kind_, parameters)) * outcome.moved.count;
  const std::int32_t share = share_of(value, mass);
  if (index_of(move.to) == 0) own_shift_ += share;
  if (index_of(move.from) == 0) own_shift_ -= share;
  shift_leaf(leaf, move.to, static_cast<std::uint32_t>(outcome.moved.count));
  const std::uint64_t cost = outcome.spent.count / outcome.moved.count;
  if (cost > 0) {
    page_cost_ns_ = has_cost_
                        ? (page_cost_ns_ * (cost_weight - 1) + cost + cost_weight / 2) / cost_weight
                        : cost;
    has_cost_ = true;
  }
  if (!is_ranked) return;
  spent_ns_ += outcome.spent.count;
  ++ranked_moves_;
  note_move(leaf, is_up ? Direction::promote : Direction::demote, now, parameters.reversal_backoff,
            parameters.reversals_max);
}

FirstPlacement Tiering::place(std::uint16_t call_site, Bytes size) const noexcept {
  if (tier_count_ == 0) return choose_first({.call_site = 0, .size = {}, .tier_count = 1}, sites_);
  PlacementInput input{.call_site = call_site,
                       .size = size,
                       .tier_count = tier_count_,
                       .used = used_,
                       .capacity = capacity_,
                       .target = target_,
                       .hot = fill_.earned_from[0]};
  return choose_first(input, sites_);
}

Explanation Tiering::explain(std::uint32_t index, Nanoseconds now) const noexcept {
  CXLTIER_CHECK(index < memory_.leaves.size());
  const Parameters& parameters = config_.parameters;
  const Leaf& leaf = memory_.leaves[index];
  const std::uint64_t value = value_of(leaf, short_32(), weight_16_of(leaf, kind_, parameters));
  Explanation why{.verdict = static_cast<Verdict>(leaf.verdict),
                  .tier = static_cast<TierIndex>(leaf.tier),
                  .wish = static_cast<TierIndex>(leaf.wish == wish_own ? leaf.tier : leaf.wish),
                  .rate_micro = micro_of(value),
                  .hot_rate_micro = micro_of(linear_of(fill_.earned_from[0])),
                  .pattern = static_cast<Pattern>(leaf.pattern)};
  if (why.verdict == Verdict::waits_turn) {
    const Nanoseconds pause = backoff_of(parameters.reversal_backoff, leaf.reversals);
    why.wait = pause - leaf_age(leaf.moved_at, now);
  } else if (why.verdict == Verdict::waits_retry) {
    const auto left = static_cast<std::uint16_t>(leaf.retry_at - leaf_clock(now));
    why.wait = {left < 0x8000 ? left * leaf_clock_ns : 0};
  }
  return why;
}

std::array<std::uint64_t, heat_bins> Tiering::heat() const noexcept {
  std::array<std::uint64_t, heat_bins> pages{};
  for (const Leaf& leaf : memory_.leaves) {
    const std::uint64_t value =
        value_of(leaf, short_32(), weight_16_of(leaf, kind_, config_.parameters));
    pages[heat_bin_of(rate_of(value))] += leaf.pages;
  }
  return pages;
}

TieringView Tiering::view() const noexcept {
  return {.mode = mode(),
          .share = share_,
          .target = target_,
          .mean_latency_ps = static_cast<std::uint32_t>(mean_latency_ps_),
          .hot_rate = fill_.earned_from[0],
          .changes = changes_,
          .holds = guard_.holds(),
          .moved = moved_,
          .saved_us = guard_.saved_ns() / 1000,
          .spent_us = static_cast<std::int64_t>(guard_.spent_ns() / 1000),
          .gain_permille = guard_.gain_permille(),
          .gain_bound_permille = guard_.gain_bound_permille()};
}

}  // namespace cxltier
