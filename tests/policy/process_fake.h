// SPDX-License-Identifier: Apache-2.0
//
// A process without a kernel: pages with a true access rate and a tier, a sensor that samples them
// as access bits do, and a mover that carries out a plan page by page.
//
// Everything follows from the seed; the tests print it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "policy/planner.h"

namespace cxltier::testing {

struct FakeRegion {
  std::uint64_t first_page = 0;
  double rate = 0;                         // accesses of one page per second
  bool is_hot = false;                     // what the test means by hot
  std::vector<std::uint8_t> tier_of_page;  // tiers_max: not resident
};

struct Carried {
  std::uint64_t moved = 0;
  std::uint64_t promoted = 0;
  std::uint64_t demoted = 0;
};

// What a test means a region to be.
enum class TrueHeat : std::uint8_t { cold, hot };

class ProcessFake {
 public:
  ProcessFake(std::uint64_t seed, std::vector<std::uint64_t> capacities)
      : random_(seed), capacities_(std::move(capacities)) {}

  // Adds a region whose pages are dealt over the tiers in turn, as `deal` lists them.
  void add(std::uint32_t pages, double rate, TrueHeat heat, std::span<const std::uint8_t> deal) {
    FakeRegion region{
        .first_page = end_ + 16, .rate = rate, .is_hot = heat == TrueHeat::hot, .tier_of_page = {}};
    for (std::uint32_t i = 0; i < pages; ++i) {
      region.tier_of_page.push_back(deal[dealt_++ % deal.size()]);
    }
    end_ = region.first_page + pages;
    regions_.push_back(region);
  }

  // Access bits of an interval: each page was touched with probability 1 - exp(-rate * seconds),
  // then the share is disturbed by +-noise.
  std::vector<Observation> scan(double seconds, double noise) {
    std::vector<Observation> seen;
    std::uniform_real_distribution<double> disturb(1 - noise, 1 + noise);
    for (const FakeRegion& region : regions_) {
      Observation now{.first_page = {region.first_page},
                      .page_count = static_cast<std::uint32_t>(region.tier_of_page.size()),
                      .visibility = Visibility::seen};
      for (const std::uint8_t tier : region.tier_of_page) {
        if (tier < tiers_max) ++now.resident[tier];
      }
      std::binomial_distribution<std::uint32_t> touched(now.page_count,
                                                        1 - std::exp(-region.rate * seconds));
      const double shown = touched(random_) * disturb(random_);
      now.touched_pages = std::min(now.page_count, static_cast<std::uint32_t>(std::lround(shown)));
      seen.push_back(now);
    }
    return seen;
  }

  [[nodiscard]] std::uint64_t used(std::size_t tier) const {
    std::uint64_t pages = 0;
    for (const FakeRegion& region : regions_) {
      for (const std::uint8_t t : region.tier_of_page) pages += t == tier ? 1 : 0;
    }
    return pages;
  }

  [[nodiscard]] Limits limits(std::uint64_t moved_max, Nanoseconds now) const {
    Limits limits{.tier_count = static_cast<std::uint8_t>(capacities_.size()),
                  .moved_max = {moved_max},
                  .now = now};
    for (std::size_t t = 0; t < capacities_.size(); ++t) {
      limits.tiers[t] = {.used = {used(t)}, .capacity = {capacities_[t]}};
    }
    return limits;
  }

  // Carries out one move to the letter of its contract and returns how many pages moved.
  std::uint64_t carry_out(const Move& move) {
    FakeRegion& region = regions_[move.region];
    const std::uint64_t begin = move.first_page.value - region.first_page;
    const std::size_t to = index_of(move.to);
    std::uint64_t moved = 0;
    for (std::uint64_t i = begin; i < begin + move.page_count; ++i) {
      std::uint8_t& tier = region.tier_of_page[i];
      const bool is_source =
          move.direction == Direction::promote ? tier > to && tier < tiers_max : tier < to;
      if (!is_source) continue;
      tier = static_cast<std::uint8_t>(to);
      ++moved;
    }
    return moved;
  }

  // Share of the hot pages that are on tier 0.
  [[nodiscard]] double hot_share_fast() const {
    double hot = 0;
    double fast = 0;
    for (const FakeRegion& region : regions_) {
      if (!region.is_hot) continue;
      for (const std::uint8_t tier : region.tier_of_page) {
        hot += 1;
        fast += tier == 0 ? 1 : 0;
      }
    }
    return fast / hot;
  }

  [[nodiscard]] std::uint64_t page_count() const {
    std::uint64_t pages = 0;
    for (const FakeRegion& region : regions_) pages += region.tier_of_page.size();
    return pages;
  }

  std::vector<FakeRegion>& regions() { return regions_; }
  [[nodiscard]] std::uint64_t capacity(std::size_t tier) const { return capacities_[tier]; }

 private:
  std::mt19937_64 random_;
  std::vector<std::uint64_t> capacities_;
  std::vector<FakeRegion> regions_;
  std::uint64_t end_ = 0;
  std::size_t dealt_ = 0;
};

// The controller's loop over a fake: scan, update, rank, plan, move, record.
class Loop {
 public:
  Loop(ProcessFake& process, const Parameters& parameters)
      : process_(process), parameters_(parameters) {}

  Carried tick(double interval_s, double noise, std::uint64_t moved_max) {
    const Nanoseconds elapsed{static_cast<std::uint64_t>(interval_s * 1e9)};
    now_ = now_ + elapsed;
    // The controller watches for at most a second, however long it rests.
    const std::vector<Observation> seen = process_.scan(std::min(interval_s, 1.0), noise);
    std::vector<Region> after(seen.size());
    update_regions(regions_, seen, elapsed, after);
    regions_ = after;
    std::vector<Rank> ranks(regions_.size());
    std::vector<Move> moves(regions_.size());
    const Limits limits = process_.limits(moved_max, now_);
    rank_regions(regions_, limits, parameters_, ranks);
    moves.resize(plan_moves(regions_, limits, parameters_, moves, ranks));
    return carry_out(moves);
  }

  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }

 private:
  Carried carry_out(const std::vector<Move>& moves) {
    Carried carried;
    for (const Move& move : moves) {
      const std::uint64_t moved = process_.carry_out(move);
      carried.moved += moved;
      (move.direction == Direction::promote ? carried.promoted : carried.demoted) += moved;
      record_outcome(regions_[move.region], move, {.moved = {moved}, .refused = {0}}, now_,
                     parameters_);
    }
    return carried;
  }

  ProcessFake& process_;
  Parameters parameters_;
  std::vector<Region> regions_;
  Nanoseconds now_ = seconds(100);
};

}  // namespace cxltier::testing
