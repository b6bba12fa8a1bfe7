// SPDX-License-Identifier: Apache-2.0
//
// A program on loaded memory under the whole policy: true heat by leaf, access bits with sampling
// noise, probes with noise and outliers, a mover that does what it is told, and latencies from
// memory_fake.h.
//
// Everything follows from the seed; the tests print it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "policy/tiering.h"
#include "tests/policy/memory_fake.h"

namespace cxltier::testing {

struct LoopSetup {
  FakeMemory memory;
  std::vector<double> popularity;       // share of the accesses by leaf
  std::vector<std::uint64_t> capacity;  // pages by tier
  std::uint32_t leaf_pages = 18'432;    // 72 MiB
  Parameters parameters = preset_of(PolicyKind::balance);
  std::uint64_t seed = 1;
  double window_s = 0.0005;
  double page_cost_us = 1;  // of a processor
};

class TieringLoop {
 public:
  explicit TieringLoop(LoopSetup setup)
      : setup_(std::move(setup)),
        random_(setup_.seed),
        leaves_(setup_.popularity.size()),
        choices_(2048),
        moves_(2048),
        tiering_({.page_size = {4096}, .parameters = setup_.parameters, .cpus = 15},
                 {.leaves = leaves_, .choices = choices_, .moves = moves_}) {
    // First touch in order of the leaves.
    std::size_t tier = 0;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      while (tier + 1 < setup_.capacity.size() &&
             used(tier) + setup_.leaf_pages > setup_.capacity[tier]) {
        ++tier;
      }
      std::vector<std::uint32_t> pages(setup_.capacity.size());
      pages[tier] = setup_.leaf_pages;
      resident_.push_back(pages);
    }
    solve();
  }

  // One tick and the time until the next.
  void tick() {
    const Nanoseconds elapsed = next_;
    now_ = now_ + elapsed;
    const double seconds_passed = static_cast<double>(elapsed.count) / 1e9;
    TickInput input;
    input.now = now_;
    input.elapsed = elapsed;
    input.window = {static_cast<std::uint64_t>(setup_.window_s * 1e9)};
    input.tier_count = static_cast<std::uint8_t>(setup_.capacity.size());
    const std::vector<LeafSample> samples = scan();
    const std::vector<LeafPlacement> placements =
        first_ ? place_all() : std::vector<LeafPlacement>{};
    first_ = false;
    input.samples = samples;
    input.placements = placements;
    const auto probes = static_cast<std::uint32_t>(std::max(1.0, probes_per_s_ * seconds_passed));
    for (std::size_t t = 0; t < setup_.capacity.size(); ++t) {
      input.tiers[t] = {
          .latency_idle_ps = static_cast<std::uint32_t>(setup_.memory.tiers[t].idle_ns * 1000),
          .latency_ps = probe(latency_[t], probes),
          .probes = probes,
          .read_mbps = static_cast<std::uint32_t>(setup_.memory.tiers[t].gbps * 1000),
          .used = {used(t)},
          .capacity = {setup_.capacity[t]}};
    }
    const TickPlan plan = tiering_.tick(input);
    next_ = plan.next;
    probes_per_s_ = plan.probes_per_s;
    mode_ = plan.mode;
    moved_last_ = 0;
    for (const LeafMove& move : plan.moves) carry_out(move);
    solve();
  }

  void run(double seconds_to_run) {
    const Nanoseconds end = now_ + Nanoseconds{static_cast<std::uint64_t>(seconds_to_run * 1e9)};
    while (now_ < end) tick();
  }

  [[nodiscard]] double throughput() const {
    return setup_.memory.outstanding / (FakeMemory::mean(share_, latency_) + setup_.memory.app_ns);
  }
  [[nodiscard]] double share(std::size_t tier) const { return share_[tier]; }
  // The best that free moves could reach with two tiers and one class of accesses.
  [[nodiscard]] double best() const {
    std::vector<double> hottest = setup_.popularity;
    std::sort(hottest.begin(), hottest.end(), std::greater<>());
    double share = 0;
    const std::size_t fits = setup_.capacity[0] / setup_.leaf_pages;
    for (std::size_t i = 0; i < hottest.size() && i < fits; ++i) share += hottest[i];
    return setup_.memory.best(share);
  }
  [[nodiscard]] std::uint64_t used(std::size_t tier) const {
    std::uint64_t pages = 0;
    for (const auto& leaf : resident_) pages += leaf[tier];
    return pages;
  }
  [[nodiscard]] double moved_bytes() const { return static_cast<double>(moved_) * 4096; }
  [[nodiscard]] std::uint64_t moved_last() const { return moved_last_; }
  [[nodiscard]] Nanoseconds now() const { return now_; }
  [[nodiscard]] TieringMode mode() const { return mode_; }
  [[nodiscard]] const Tiering& tiering() const { return tiering_; }
  [[nodiscard]] const std::vector<Leaf>& leaves() const { return leaves_; }
  [[nodiscard]] bool overfull() const { return overfull_; }
  LoopSetup& setup() { return setup_; }
  // After a change of setup().
  void solve() {
    share_.assign(setup_.capacity.size(), 0);
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      for (std::size_t t = 0; t < share_.size(); ++t) {
        share_[t] += setup_.popularity[i] * resident_[i][t] / setup_.leaf_pages;
      }
    }
    latency_ = setup_.memory.latencies(share_);
  }
  std::vector<std::vector<std::uint32_t>>& resident() { return resident_; }

 private:
  [[nodiscard]] std::vector<LeafPlacement> place_all() const {
    std::vector<LeafPlacement> placements;
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      LeafPlacement placement{.leaf = static_cast<std::uint32_t>(i)};
      std::copy(resident_[i].begin(), resident_[i].end(), placement.resident.begin());
      placements.push_back(placement);
    }
    return placements;
  }

  std::vector<LeafSample> scan() {
    std::vector<LeafSample> samples;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const double rate = throughput() * 1e9 * setup_.popularity[i] / setup_.leaf_pages;
      std::binomial_distribution<std::uint32_t> touched(setup_.leaf_pages,
                                                        1 - std::exp(-rate * setup_.window_s));
      const std::uint32_t count = touched(random_);
      if (count > 0) samples.push_back({.leaf = static_cast<std::uint32_t>(i), .touched = count});
    }
    return samples;
  }

  std::uint32_t probe(double latency_ns, std::uint32_t probes) {
    std::normal_distribution<double> noise(1, 0.03);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<double> batches;
    for (std::uint32_t i = 0; i < probes; ++i) {
      batches.push_back(latency_ns * noise(random_) * (chance(random_) < 0.05 ? 10 : 1));
    }
    std::sort(batches.begin(), batches.end());
    return static_cast<std::uint32_t>(batches[(batches.size() - 1) / 2] * 1000);
  }

  void carry_out(const LeafMove& move) {
    auto& pages = resident_[move.leaf];
    const std::size_t to = index_of(move.to);
    auto left = static_cast<std::uint32_t>(move.pages.count);
    for (std::size_t t = 0; t < pages.size(); ++t) {
      if (t == to) continue;
      const std::uint32_t taken = std::min(pages[t], left);
      pages[t] -= taken;
      pages[to] += taken;
      left -= taken;
    }
    const std::uint64_t moved = move.pages.count - left;
    moved_ += moved;
    moved_last_ += moved;
    overfull_ |= used(to) > setup_.capacity[to];
    const auto cost = static_cast<std::uint64_t>(setup_.page_cost_us * 1000);
    tiering_.record(move, {.moved = {moved}, .refused = {}, .spent = {moved * cost}}, now_);
  }

  LoopSetup setup_;
  std::mt19937_64 random_;
  std::vector<Leaf> leaves_;
  std::vector<LeafChoice> choices_;
  std::vector<LeafMove> moves_;
  Tiering tiering_;
  std::vector<std::vector<std::uint32_t>> resident_;
  std::vector<double> share_;
  std::vector<double> latency_;
  Nanoseconds now_ = seconds(100);
  Nanoseconds next_ = seconds(1);
  double probes_per_s_ = 8;
  TieringMode mode_ = TieringMode::steady;
  bool first_ = true;
  bool overfull_ = false;
  std::uint64_t moved_ = 0;
  std::uint64_t moved_last_ = 0;
};

// 72 GiB in 1,024 leaves: `hot` of them take 90 % of the accesses, at a place of their own.
inline std::vector<double> hot_set(std::size_t leaves, std::size_t hot, std::size_t first) {
  std::vector<double> popularity(leaves, 0.1 / static_cast<double>(leaves));
  for (std::size_t i = 0; i < hot; ++i) {
    popularity[(first + i) % leaves] += 0.9 / static_cast<double>(hot);
  }
  return popularity;
}

}  // namespace cxltier::testing
