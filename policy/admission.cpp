// SPDX-License-Identifier: Apache-2.0
//
// The rules of admission.h in integers: back-off by shifts, noise by a bitwise square root.
#include "policy/admission.h"

#include <algorithm>
#include <limits>

namespace cxltier {
namespace {

// The greatest root whose square is at most `value`; 32 rounds of one bit.
std::uint32_t square_root(std::uint64_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    const std::uint64_t tried = root | bit;
    if (tried * tried <= value) root = tried;
  }
  return static_cast<std::uint32_t>(root);
}

std::uint64_t sample_size(const Region& region) {
  return std::max(sample_pages_min, resident_pages(region).count);
}

}  // namespace

Nanoseconds backoff_of(Nanoseconds base, std::uint8_t exponent) noexcept {
  constexpr std::uint64_t longest = std::numeric_limits<std::uint64_t>::max();
  if (base.count == 0) return base;
  if (exponent >= 64 || base.count > longest >> exponent) return {longest};
  return {base.count << exponent};
}

bool is_known(const Region& region, const Parameters& parameters) noexcept {
  return region.scans >= parameters.scans_min;
}

bool is_persistent(const Region& region, TierIndex tier, const Parameters& parameters) noexcept {
  return region.wish <= tier && region.epochs_hot >= parameters.epochs_hot_min &&
         score_of(region) >= parameters.score_min.value;
}

bool may_retry(const Region& region, Nanoseconds now, const Parameters& parameters) noexcept {
  if (region.refusals == 0) return true;
  const auto exponent = static_cast<std::uint8_t>(region.refusals - 1);
  const Nanoseconds pause =
      backoff_of(parameters.refusal_backoff, std::min(exponent, parameters.refusals_max));
  return now - region.refused_at >= pause;
}

bool may_turn(const Region& region, Direction direction, Nanoseconds now,
              const Parameters& parameters) noexcept {
  if (region.last_move == Direction::none || region.last_move == direction) return true;
  const Nanoseconds pause =
      backoff_of(parameters.reversal_backoff, std::min(region.reversals, parameters.reversals_max));
  return now - region.moved_at >= pause;
}

std::uint32_t margin_of(const Region& candidate, const Region& victim,
                        const Parameters& parameters) noexcept {
  const std::uint64_t share = std::uint64_t{score_of(victim)} * parameters.margin_share_256 / 256;
  // Both have this share if they are equal and differ by chance; 1 is heat_max.
  const std::uint64_t p = (std::uint64_t{score_of(candidate)} + score_of(victim)) / 2;
  const std::uint64_t variance = p * (heat_max - p);
  const std::uint64_t sigma =
      square_root(variance / sample_size(candidate) + variance / sample_size(victim));
  const std::uint64_t noise = sigma * parameters.margin_sigma_16 / 16;
  const std::uint64_t margin = std::max({share, noise, std::uint64_t{parameters.margin_min.value}});
  return static_cast<std::uint32_t>(margin);
}

// Half-way steadiness flickers by chance: it defends a place, but it takes none.
bool beats(const Region& candidate, const Region& victim, const Parameters& parameters) noexcept {
  Region sure = candidate;
  if (sure.steady < steady_max) sure.steady = 0;
  return score_of(sure) > score_of(victim) + margin_of(sure, victim, parameters);
}

}  // namespace cxltier
