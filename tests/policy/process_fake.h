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

#include "policy/tiering.h"

namespace cxltier::testing {

// What the sensor says of one region.
struct Seen {
  std::uint32_t touched_pages = 0;
  Residence resident{};
};

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
  std::vector<Seen> scan(double seconds, double noise) {
    std::vector<Seen> seen;
    std::uniform_real_distribution<double> disturb(1 - noise, 1 + noise);
    for (const FakeRegion& region : regions_) {
      const auto page_count = static_cast<std::uint32_t>(region.tier_of_page.size());
      Seen now;
      for (const std::uint8_t tier : region.tier_of_page) {
        if (tier < tiers_max) ++now.resident[tier];
      }
      std::binomial_distribution<std::uint32_t> touched(page_count,
                                                        1 - std::exp(-region.rate * seconds));
      const double shown = touched(random_) * disturb(random_);
      now.touched_pages = std::min(page_count, static_cast<std::uint32_t>(std::lround(shown)));
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

  [[nodiscard]] std::size_t tier_count() const { return capacities_.size(); }

  // Carries out one move to the letter of its contract and returns how many pages moved.
  std::uint64_t carry_out(const LeafMove& move) {
    FakeRegion& region = regions_[move.leaf];
    const std::size_t to = index_of(move.to);
    const bool is_up = move.to < move.from;
    std::uint64_t moved = 0;
    for (std::uint8_t& tier : region.tier_of_page) {
      const bool is_source = is_up ? tier > to && tier < tiers_max : tier < to;
      if (!is_source || moved == move.pages.count) continue;
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

// The controller's loop over a fake: scan, tick, move, record.
class Loop {
 public:
  static constexpr std::size_t leaves_max = 2048;

  Loop(ProcessFake& process, const Parameters& parameters)
      : process_(process),
        leaves_(leaves_max),
        choices_(leaves_max),
        moves_(leaves_max),
        tiering_({.page_size = {4096}, .parameters = parameters, .cpus = 2},
                 {.leaves = leaves_, .choices = choices_, .moves = moves_}) {}

  Carried tick(double interval_s, double noise) {
    const Nanoseconds elapsed{static_cast<std::uint64_t>(interval_s * 1e9)};
    now_ = now_ + elapsed;
    // The controller watches for at most a second, however long it rests.
    const double window_s = std::min(interval_s, 1.0);
    const std::vector<Seen> seen = process_.scan(window_s, noise);
    std::vector<LeafPlacement> placements;
    std::vector<LeafSample> samples;
    for (std::uint32_t leaf = 0; leaf < seen.size(); ++leaf) {
      placements.push_back({.leaf = leaf, .resident = seen[leaf].resident});
      if (seen[leaf].touched_pages > 0) {
        samples.push_back({.leaf = leaf, .touched = seen[leaf].touched_pages});
      }
    }
    TickInput input;
    input.now = now_;
    input.elapsed = elapsed;
    input.window = {static_cast<std::uint64_t>(window_s * 1e9)};
    input.samples = samples;
    input.placements = placements;
    input.tier_count = static_cast<std::uint8_t>(process_.tier_count());
    for (std::size_t t = 0; t < process_.tier_count(); ++t) {
      const auto latency = static_cast<std::uint32_t>(100'000 * (t + 1));
      input.tiers[t] = {.latency_idle_ps = latency,
                        .latency_ps = latency,
                        .used = {process_.used(t)},
                        .capacity = {process_.capacity(t)}};
    }
    Carried carried;
    for (const LeafMove& move : tiering_.tick(input).moves) carry_out(move, carried);
    return carried;
  }

 private:
  void carry_out(const LeafMove& move, Carried& carried) {
    const std::uint64_t moved = process_.carry_out(move);
    carried.moved += moved;
    (move.to < move.from ? carried.promoted : carried.demoted) += moved;
    tiering_.record(move, {.moved = {moved}, .refused = {}, .spent = {moved * 2000}}, now_);
  }

  ProcessFake& process_;
  std::vector<Leaf> leaves_;
  std::vector<LeafChoice> choices_;
  std::vector<LeafMove> moves_;
  Tiering tiering_;
  Nanoseconds now_ = seconds(100);
};

}  // namespace cxltier::testing
