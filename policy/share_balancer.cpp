// SPDX-License-Identifier: Apache-2.0
//
// One function for each phase of the picture in share_balancer.h.
#include "policy/share_balancer.h"

#include <algorithm>

#include "policy/check.h"

namespace cxltier {
namespace {

// Probes that make one point of the climb: 3 % noise becomes 0.7 %.  More: slower, surer.
constexpr std::uint32_t point_probes = 32;
// And of a point on the way, before it is compared.
constexpr std::uint32_t path_probes = 8;
// A share that has not come nearer for so many ticks will not: leaves are too large, or the mover
// is refused.
constexpr std::uint8_t still_max = 4;
// Rounds over more than one pair of tiers; a pair moves the others' best point a little.
constexpr std::uint8_t rounds_max = 3;
// The median is less exact than the mean by the square root of pi/2.
constexpr std::uint32_t median_factor_1024 = 1283;

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

std::uint32_t permille_of(std::uint32_t part, std::uint32_t whole) {
  return whole == 0 ? 0 : static_cast<std::uint32_t>(std::uint64_t{part} * 1000 / whole);
}

// Standard deviation of the median of `probes` batches, in thousandths of a latency.
std::uint32_t noise_of(std::uint32_t probes, const Parameters& parameters) {
  const std::uint64_t count = std::max(1u, probes);
  std::uint64_t root_16 = 16;  // sixteen times the square root
  while ((root_16 + 1) * (root_16 + 1) <= count * 256) ++root_16;
  const std::uint64_t sigma = parameters.probe_sigma_permille;
  return static_cast<std::uint32_t>(sigma * median_factor_1024 * 16 / 1024 / root_16);
}

// The fast tier is so much faster that giving it less cannot pay.
template <typename Sample>
bool is_far_below(const Sample& now, const Parameters& parameters) {
  return std::uint64_t{now.fast_ps} * 1000 <
         std::uint64_t{now.slow_ps} * (1000u - parameters.far_permille);
}

std::uint32_t in_share(std::uint32_t step_1024) { return step_1024 * (share16_one / 1024); }

}  // namespace

ShareBalancer::Sample ShareBalancer::sample_of(const BalanceInput& input, std::size_t fast,
                                               const Parameters& parameters) noexcept {
  const std::size_t slow = fast + 1;
  const std::uint32_t both = std::max(1u, std::uint32_t{input.share[fast]} + input.share[slow]);
  const auto part = [both](std::uint32_t share) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{share} * share16_one / both, share16_one));
  };
  Sample now{.x = part(input.share[fast]),
             .x_max = part(input.share_max[fast]),
             .fast_ps = input.latency_ps[fast],
             .slow_ps = input.latency_ps[slow]};
  for (std::size_t t = 0; t < input.tier_count; ++t) {
    now.mean_ps += std::uint64_t{input.share[t]} * input.latency_ps[t];
  }
  now.mean_ps /= share16_one;
  now.is_moving = input.moved > share16_one / 500;
  now.probes = std::max(1u, input.probes);
  now.noise_permille = noise_of(now.probes, parameters);
  const std::uint64_t idle = input.idle_ps[fast];
  const std::uint32_t slack = parameters.idle_permille;
  now.is_unloaded = idle != 0 && std::uint64_t{now.fast_ps} * 1000 <= idle * (1000 + slack) &&
                    now.fast_ps < now.slow_ps;
  return now;
}

bool ShareBalancer::has_arrived(const Sample& now, const Parameters& parameters) noexcept {
  const std::uint32_t goal = std::min(target_, now.x_max);
  const bool is_there = distance(now.x, goal) <= 2 * in_share(parameters.share_band_1024);
  const bool is_nearer = distance(now.x, goal) + in_share(2) < distance(last_x_, goal);
  still_ = is_nearer ? std::uint8_t{0} : static_cast<std::uint8_t>(still_ + 1);
  last_x_ = now.x;
  return is_there || still_ >= still_max;
}

std::optional<std::uint32_t> ShareBalancer::learn_path(const Sample& now,
                                                       const Parameters& parameters) noexcept {
  if (now.is_moving) return std::nullopt;
  const std::size_t here =
      std::min<std::size_t>(now.x * path_.size() / share16_one, path_.size() - 1);
  PathPoint& point = path_[here];
  point.probes = std::min(point.probes + now.probes, 2 * point_probes);
  const auto mean_ps = static_cast<std::int64_t>(now.mean_ps);
  const std::int64_t change = (mean_ps - point.mean_ps) * std::int64_t{now.probes} / point.probes;
  point.mean_ps = static_cast<std::uint32_t>(point.mean_ps + change);
  if (!parameters.mechanisms.marginal_step || point.probes < path_probes) return std::nullopt;
  const std::uint64_t clearly =
      2u * parameters.step_gain_permille + 2u * noise_of(path_probes, parameters);
  std::size_t best = here;
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (path_[i].probes >= path_probes && path_[i].mean_ps < path_[best].mean_ps) best = i;
  }
  if (path_[best].mean_ps * std::uint64_t{1000} >= point.mean_ps * (1000 - clearly)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>((2 * best + 1) * share16_one / (2 * path_.size()));
}

bool ShareBalancer::start_climb(const Sample& now, std::uint32_t x,
                                const Parameters& parameters) noexcept {
  target_ = x;
  if (!parameters.mechanisms.marginal_step) return true;
  phase_ = Phase::climb;
  best_x_ = x;
  best_ps_ = 0;
  direction_ = now.is_unloaded ? std::int8_t{1} : std::int8_t{-1};
  failed_ = still_ = 0;
  sum_ps_ = probes_ = 0;
  return false;
}

bool ShareBalancer::seek(const Sample& now, const Parameters& parameters) noexcept {
  const std::optional<std::uint32_t> better = learn_path(now, parameters);
  if (better) return start_climb(now, *better, parameters);
  const bool goes_down = now.fast_ps > now.slow_ps;
  const bool is_open = high_ == share16_one;  // x has never been too great
  if (is_open && !goes_down && (now.is_unloaded || is_far_below(now, parameters))) {
    target_ = share16_max;
    return has_arrived(now, parameters);
  }
  const std::uint32_t higher = std::max(now.fast_ps, now.slow_ps);
  const std::uint32_t gap = permille_of(distance(now.fast_ps, now.slow_ps), higher);
  const bool is_equal =
      gap < std::max<std::uint32_t>(parameters.gap_permille, 3 * now.noise_permille);
  if (!is_equal && goes_down) high_ = std::min({high_, now.x, share16_one - 1});
  if (!is_equal && !goes_down) low_ = std::max(low_, now.x);
  const bool is_closed = high_ <= low_ + in_share(parameters.share_band_1024);
  const bool is_pegged = is_open && !goes_down && has_arrived(now, parameters);
  // Below the balance, coming from above: the least mean is near, or still further down.
  const bool has_crossed = !is_open && !goes_down && parameters.mechanisms.marginal_step;
  if (is_equal || is_closed || is_pegged || has_crossed) return start_climb(now, now.x, parameters);
  // Before anything is given away, J is measured where it is.
  if (goes_down && !has_start_ && parameters.mechanisms.marginal_step) {
    target_ = now.x;
    probes_ += now.probes;
    has_start_ = probes_ >= path_probes;
    return false;
  }
  target_ = is_open ? std::uint32_t{share16_max} : low_ + (high_ - low_) / 2;
  return false;
}

// Whether a step in this direction can help at all.  While the fast tier is slower than the other,
// more on it only adds; while it is much faster, what a step down relieves is less than what it
// costs, however steep its knee.
bool ShareBalancer::is_worth_trying(const Sample& now,
                                    const Parameters& parameters) const noexcept {
  const std::uint32_t least = in_share(parameters.step_min_1024);
  if (direction_ > 0) {
    return best_x_ + least <= now.x_max &&
           std::uint64_t{now.fast_ps} * 1000 <=
               std::uint64_t{now.slow_ps} * (1000u + parameters.gap_permille);
  }
  return best_x_ >= least && !now.is_unloaded && !is_far_below(now, parameters);
}

// The next point, or none if no direction is left.  The direction that led here is followed; where
// it came from is known to be worse.
bool ShareBalancer::try_next(const Sample& now, const Parameters& parameters) noexcept {
  const std::uint32_t step = in_share(parameters.step_1024);
  sum_ps_ = probes_ = 0;
  still_ = 0;
  for (; failed_ < 2; ++failed_, direction_ = static_cast<std::int8_t>(-direction_)) {
    if (!is_worth_trying(now, parameters)) continue;
    target_ =
        direction_ > 0 ? std::min(best_x_ + step, now.x_max) : best_x_ - std::min(step, best_x_);
    return false;
  }
  const std::uint32_t least = in_share(parameters.step_min_1024);
  target_ = best_x_ + least > now.x_max ? std::uint32_t{share16_max} : best_x_;
  return true;
}

// Compares a measured point with the best one.
bool ShareBalancer::judge(std::uint64_t mean_ps, const Sample& now,
                          const Parameters& parameters) noexcept {
  const bool is_first = best_ps_ == 0;
  const bool is_better = mean_ps * 1000 < best_ps_ * (1000u - parameters.step_gain_permille);
  if (is_first || is_better) {
    best_x_ = now.x;
    best_ps_ = std::max<std::uint64_t>(1, mean_ps);
    failed_ = is_first ? std::uint8_t{0} : std::uint8_t{1};
  } else {
    ++failed_;
    direction_ = static_cast<std::int8_t>(-direction_);
  }
  return try_next(now, parameters);
}

// Nothing is learned of a point before the share has arrived there.
bool ShareBalancer::climb(const Sample& now, const Parameters& parameters) noexcept {
  if (!has_arrived(now, parameters)) return false;
  const std::optional<std::uint32_t> better = learn_path(now, parameters);
  if (best_ps_ == 0 && better) return start_climb(now, *better, parameters);
  sum_ps_ += now.mean_ps * now.probes;
  probes_ += now.probes;
  if (probes_ < point_probes) return false;
  return judge(sum_ps_ / probes_, now, parameters);
}

void ShareBalancer::start_pair(std::size_t pair) noexcept {
  pair_ = static_cast<std::uint8_t>(pair);
  phase_ = Phase::seek;
  target_ = held_[pair];
  low_ = 0;
  high_ = share16_one;
  path_ = {};
  still_ = 0;
  probes_ = 0;
  has_start_ = false;
}

// This pair holds `target_` from now on; the next one begins, or all rest.
void ShareBalancer::finish_pair(std::size_t pairs, const Parameters& parameters) noexcept {
  has_changed_ |= distance(held_[pair_], target_) > in_share(parameters.step_min_1024);
  held_[pair_] = target_;
  if (pair_ + std::size_t{1} < pairs) return start_pair(pair_ + std::size_t{1});
  ++rounds_;
  if (pairs > 1 && has_changed_ && rounds_ < rounds_max) {
    has_changed_ = false;
    return start_pair(0);
  }
  phase_ = Phase::rest;
}

// Begins anew if some pair's reason to rest where it does has been gone for long enough.
void ShareBalancer::watch(const BalanceInput& input, const Parameters& parameters) noexcept {
  bool is_doubtful = false;
  for (std::size_t pair = 0; pair + 1 < input.tier_count; ++pair) {
    const Sample now = sample_of(input, pair, parameters);
    if (now.fast_ps == 0 || now.slow_ps == 0) continue;
    const std::uint32_t slack =
        std::max<std::uint32_t>(parameters.gap_permille, 3 * now.noise_permille);
    const bool is_pegged = held_[pair] == share16_max;
    const bool is_slower = std::uint64_t{now.fast_ps} * 1000 >
                           std::uint64_t{now.slow_ps} * (1000u + std::uint64_t{slack});
    is_doubtful |= is_pegged ? is_slower : now.is_unloaded;
  }
  doubts_ = is_doubtful ? static_cast<std::uint8_t>(doubts_ + 1) : std::uint8_t{0};
  if (doubts_ < patience_) return;
  const auto patience = static_cast<std::uint8_t>(std::min(2 * patience_, int{patience_max}));
  reset();
  patience_ = patience;
}

// What the pairs hold, as shares of all traffic.
std::array<Share16, tiers_max> ShareBalancer::shares_of(const BalanceInput& input) const noexcept {
  std::array<Share16, tiers_max> shares = input.share;
  for (std::size_t pair = 0; pair + 1 < input.tier_count; ++pair) {
    const bool is_current = pair == pair_ && phase_ != Phase::rest;
    const std::uint64_t x = is_current ? target_ : held_[pair];
    const std::uint64_t both = std::uint64_t{shares[pair]} + shares[pair + 1];
    const std::uint64_t fast = std::min<std::uint64_t>(both * x / share16_max, both);
    shares[pair] = static_cast<Share16>(std::min<std::uint64_t>(fast, share16_max));
    shares[pair + 1] = static_cast<Share16>(std::min<std::uint64_t>(both - fast, share16_max));
    if (x == share16_max) shares[pair] = share16_max;
  }
  return shares;
}

std::array<Share16, tiers_max> ShareBalancer::aim(const BalanceInput& input,
                                                  const Parameters& parameters) noexcept {
  CXLTIER_CHECK_DEBUG(input.tier_count >= 2 && input.tier_count <= tiers_max);
  if (phase_ == Phase::rest) watch(input, parameters);
  if (phase_ != Phase::rest) {
    const Sample now = sample_of(input, pair_, parameters);
    const bool is_measured = now.fast_ps != 0 && now.slow_ps != 0;
    const bool is_done =
        is_measured && (phase_ == Phase::seek ? seek(now, parameters) : climb(now, parameters));
    if (is_done) finish_pair(input.tier_count - std::size_t{1}, parameters);
  }
  return shares_of(input);
}

}  // namespace cxltier
