// SPDX-License-Identifier: Apache-2.0
//
// Policies on hardware samples: hottest-first, HeMem-like, MEMTIS-like.
#include <algorithm>
#include <array>

#include "policy/simulator/baselines.h"
#include "policy/simulator/heat_source.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

constexpr MoverModel huge_mover = {.rate_gbps = 10, .stall_us_unit = stall_us_huge, .threads = 1};

// Ranks by count and fills the fast tier, all the way, whatever the load.
class HottestFirst final : public TieringPolicy {
 public:
  explicit HottestFirst(double margin) : margin_(margin) {}
  [[nodiscard]] Nanoseconds interval() const override { return seconds(1); }
  [[nodiscard]] MoverModel mover() const override { return huge_mover; }
  void tick(View& view, std::vector<Order>& orders) override {
    heat_.absorb(view);
    std::vector<RankedLeaf> ranked;
    for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      ranked.push_back({leaf, heat_.heat(leaf)});
    }
    rank_hottest_first(ranked);
    OrderDraft draft(view, orders);
    std::size_t coldest = ranked.size();
    for (std::size_t i = 0; i < coldest; ++i) {
      std::uint64_t wanted = draft.units_slow(ranked[i].leaf);
      while (wanted > 0) {
        wanted -= draft.promote(ranked[i].leaf, wanted);
        if (wanted == 0 || i + 1 >= coldest) break;
        const RankedLeaf& victim = ranked[coldest - 1];
        if (ranked[i].heat <= victim.heat * (1 + margin_)) return;
        if (draft.demote(victim.leaf, wanted) == 0) --coldest;
      }
    }
  }

 private:
  double margin_;
  SampledHeat heat_{{.period = 5003, .cooling_samples = 2e6, .interval = seconds(1)}};
};

// Pages with enough samples are hot, all others cold; FIFO lists, no rank among the hot.
class HeMemLike final : public TieringPolicy {
 public:
  HeMemLike(const SampledHeat::Settings& settings, double hot_count)
      : heat_(settings), hot_count_(hot_count) {}
  [[nodiscard]] Nanoseconds interval() const override { return heat_.interval(); }
  [[nodiscard]] MoverModel mover() const override { return huge_mover; }
  void tick(View& view, std::vector<Order>& orders) override {
    heat_.absorb(view);
    OrderDraft draft(view, orders);
    // 10 GB/s.
    auto budget =
        static_cast<std::uint64_t>(1e10 * view.elapsed_s() / static_cast<double>(unit_bytes));
    const std::size_t leaves = view.leaf_count();
    std::size_t looked_at = 0;  // fast leaves that were considered as victims
    for (std::size_t i = 0; i < leaves && budget > 0; ++i) {
      const std::size_t leaf = (hot_hand_ + i) % leaves;
      if (heat_.heat(leaf) < hot_count_) continue;
      std::uint64_t wanted = std::min<std::uint64_t>(draft.units_slow(leaf), budget);
      while (wanted > 0) {
        const std::uint32_t moved = draft.promote(leaf, wanted);
        wanted -= moved;
        budget -= moved;
        if (wanted == 0) break;
        if (looked_at == leaves) return;  // no cold page is left in the fast tier
        if (heat_.heat(cold_hand_) >= hot_count_ || draft.demote(cold_hand_, wanted) == 0) {
          cold_hand_ = (cold_hand_ + 1) % leaves;
          ++looked_at;
        }
      }
    }
    hot_hand_ = (hot_hand_ + 1) % leaves;
  }

 private:
  SampledHeat heat_;
  double hot_count_;
  std::size_t hot_hand_ = 0;
  std::size_t cold_hand_ = 0;
};

// A histogram of 16 bins by powers of two; the hottest bins that fit into the fast tier are hot.
class MemtisLike final : public TieringPolicy {
 public:
  MemtisLike(const SampledHeat::Settings& settings, double adapt_samples)
      : heat_(settings), adapt_samples_(adapt_samples) {}
  [[nodiscard]] Nanoseconds interval() const override { return heat_.interval(); }
  [[nodiscard]] MoverModel mover() const override { return huge_mover; }
  void tick(View& view, std::vector<Order>& orders) override {
    heat_.absorb(view);
    since_adaptation_ += heat_.samples();
    has_cooled_ = has_cooled_ || heat_.has_cooled();
    if (since_adaptation_ > adapt_samples_) adapt(view);
    OrderDraft draft(view, orders);
    const auto low_water =
        static_cast<std::uint64_t>(0.02 * static_cast<double>(view.capacity_units(0)));
    std::size_t victim = 0;
    const auto make_room = [&](std::uint64_t units) {
      for (; victim < view.leaf_count() && draft.free_units(0) < units; ++victim) {
        if (bin_of(heat_.heat(victim)) < warm_bin_) draft.demote(victim, ~std::uint64_t{0});
      }
    };
    make_room(low_water);
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      if (bin_of(heat_.heat(leaf)) < hot_bin_) continue;
      const std::uint32_t slow = draft.units_slow(leaf);
      if (slow == 0) continue;
      make_room(slow);
      draft.promote(leaf, slow);
    }
  }

 private:
  static constexpr int bins = 16;
  static int bin_of(double count) {
    int bin = 0;
    for (double edge = 1; bin + 1 < bins && count + 1 >= 2 * edge; edge *= 2) ++bin;
    return bin;
  }

  void adapt(const View& view) {
    since_adaptation_ = 0;
    std::array<double, bins> units{};
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      units[static_cast<std::size_t>(bin_of(heat_.heat(leaf)))] += view.leaf_units();
    }
    const double room = 0.97 * static_cast<double>(view.capacity_units(0));
    double sum = 0;
    int hot = bins;
    while (hot > 1 && sum + units[static_cast<std::size_t>(hot - 1)] <= room) {
      sum += units[static_cast<std::size_t>(--hot)];
    }
    // After a cooling all counts are half as large: the threshold follows by one bin.
    if (has_cooled_ && hot < hot_bin_) hot = hot_bin_ - 1;
    has_cooled_ = false;
    hot_bin_ = std::max(1, hot);
    warm_bin_ = sum < 0.75 * static_cast<double>(view.capacity_units(0)) ? hot_bin_ - 1 : hot_bin_;
  }

  SampledHeat heat_;
  double adapt_samples_;
  double since_adaptation_ = 0;
  bool has_cooled_ = false;
  int hot_bin_ = bins;
  int warm_bin_ = bins;
};

}  // namespace

std::unique_ptr<TieringPolicy> make_sample_baseline(std::string_view name, std::size_t tuning) {
  constexpr std::array<double, tunings> margins = {0.1, 0, 0.05, 0.25, 0.5};
  constexpr std::array<double, tunings> hemem_periods = {5003, 10'007, 5003, 2503, 5003};
  constexpr std::array<double, tunings> hemem_hot = {8, 8, 4, 8, 12};
  constexpr std::array<double, tunings> hemem_cool = {18, 10, 18, 18, 36};
  constexpr std::array<double, tunings> memtis_periods = {4001, 1999, 19'997, 4001, 4001};
  constexpr std::array<double, tunings> memtis_cooling = {2e6, 2e6, 2e6, 4e6, 1e6};
  if (name == "hottest-first") return std::make_unique<HottestFirst>(margins[tuning]);
  if (name == "hemem-like") {
    return std::make_unique<HeMemLike>(
        SampledHeat::Settings{.period = hemem_periods[tuning], .cooling_count = hemem_cool[tuning]},
        hemem_hot[tuning]);
  }
  if (name == "memtis-like") {
    return std::make_unique<MemtisLike>(
        SampledHeat::Settings{.period = memtis_periods[tuning],
                              .cooling_samples = memtis_cooling[tuning],
                              .interval = milliseconds(500)},
        1e5);
  }
  return nullptr;
}

}  // namespace cxltier::simulator
