// SPDX-License-Identifier: Apache-2.0
//
// Policies on NUMA hint faults: TPP-like and NUMA-balancing-2-like.
//
// Both demote in the background by the kernel's LRU lists.  Its hand passes over the fast tier and
// takes what was not referenced since the hand came by last; if everything was, it takes what it
// finds, as reclaim does when it becomes urgent.
#include <algorithm>
#include <array>

#include "policy/simulator/baselines.h"
#include "policy/simulator/heat_source.h"
#include "policy/simulator/order_draft.h"

namespace cxltier::simulator {
namespace {

constexpr MoverModel base_page_mover = {
    .rate_gbps = 10, .stall_us_unit = stall_us_base, .threads = 15};
constexpr MoverModel huge_page_mover = {
    .rate_gbps = 10, .stall_us_unit = stall_us_huge, .threads = 1};

// Sampled share of a leaf that was referenced in the time of one pass.
constexpr std::uint64_t reference_pages = 64;
constexpr double pass_ns = 1e9;

class LruDemotion {
 public:
  // Demotes until `units_wanted` are free, the least referenced leaves first.
  void make_room(View& view, OrderDraft& draft, std::uint64_t units_wanted) {
    if (draft.free_units(0) >= units_wanted) return;
    std::vector<RankedLeaf> ranked;
    const std::size_t leaves = view.leaf_count();
    for (std::size_t i = 0; i < leaves; ++i) {
      const std::size_t leaf = (hand_ + i) % leaves;
      if (draft.units_on(leaf, 0) == 0) continue;
      const auto touched = static_cast<double>(view.touched_pages(leaf, reference_pages, pass_ns));
      ranked.push_back({static_cast<std::uint32_t>(leaf), touched});
    }
    std::ranges::stable_sort(ranked, {}, &RankedLeaf::heat);
    for (const RankedLeaf& victim : ranked) {
      if (draft.free_units(0) >= units_wanted) break;
      draft.demote(victim.leaf, units_wanted - draft.free_units(0));
      hand_ = (victim.leaf + 1) % leaves;
    }
  }

 private:
  std::size_t hand_ = 0;
};

std::uint64_t permille_of(std::uint64_t units, double permille) {
  return static_cast<std::uint64_t>(static_cast<double>(units) * permille / 1000);
}

class TppLike final : public TieringPolicy {
 public:
  TppLike(const FaultHeat::Settings& settings, double demote_permille, const MoverModel& mover)
      : heat_(settings), demote_permille_(demote_permille), mover_(mover) {}
  [[nodiscard]] Nanoseconds interval() const override { return heat_.interval(); }
  [[nodiscard]] MoverModel mover() const override { return mover_; }
  void tick(View& view, std::vector<Order>& orders) override {
    heat_.absorb(view);
    OrderDraft draft(view, orders);
    // Promotion ignores the allocation watermark, demotion restores what it took.
    double promotable = 0;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      promotable += heat_.leaf(leaf).promotable;
    }
    const std::uint64_t reserve = permille_of(view.capacity_units(0), demote_permille_);
    lru_.make_room(view, draft, reserve + static_cast<std::uint64_t>(promotable));
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      debt_ += heat_.leaf(leaf).promotable;
      if (debt_ < 1) continue;
      debt_ -= draft.promote(leaf, static_cast<std::uint64_t>(debt_));
      debt_ = std::min(debt_, 1.0);
    }
  }

 private:
  FaultHeat heat_;
  LruDemotion lru_;
  double demote_permille_;
  MoverModel mover_;
  double debt_ = 0;
};

// kernel.numa_balancing = 2.
class NumaBalancing2Like final : public TieringPolicy {
 public:
  NumaBalancing2Like(double reference_ns, double limit_mbps)
      : reference_ns_(reference_ns), limit_mbps_(limit_mbps), threshold_ns_(reference_ns) {}
  [[nodiscard]] Nanoseconds interval() const override { return heat_.interval(); }
  [[nodiscard]] MoverModel mover() const override { return base_page_mover; }
  void tick(View& view, std::vector<Order>& orders) override {
    heat_.absorb(view);
    OrderDraft draft(view, orders);
    const std::uint64_t watermark = permille_of(view.capacity_units(0), 20);
    const double limit_units =
        limit_mbps_ * 1e6 * view.elapsed_s() / static_cast<double>(unit_bytes);
    std::vector<RankedLeaf> candidates;
    double sum = 0;
    for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      if (heat_.leaf(leaf).armed <= 0) continue;
      const bool has_room = draft.free_units(0) > watermark;
      const double units =
          has_room ? heat_.leaf(leaf).faulted : heat_.faulted_within(view, leaf, threshold_ns_);
      sum += units;
      candidates.push_back({leaf, units});
    }
    adapt(view, sum);
    lru_.make_room(view, draft, watermark + static_cast<std::uint64_t>(std::min(sum, limit_units)));
    double left = limit_units;
    for (const RankedLeaf& candidate : candidates) {
      debt_ += std::min(candidate.heat, left);
      left -= std::min(candidate.heat, left);
      debt_ -= draft.promote(candidate.leaf, static_cast<std::uint64_t>(debt_));
      debt_ = std::min(debt_, 1.0);
    }
  }

 private:
  // Each minute the threshold moves by an eighth, so that candidates meet the rate limit.
  void adapt(const View& view, double candidates) {
    candidates_ += candidates;
    if (view.now() - adapted_at_ < seconds(60)) return;
    const double seconds_passed = static_cast<double>((view.now() - adapted_at_).count) / 1e9;
    const double limit = limit_mbps_ * 1e6 * seconds_passed / static_cast<double>(unit_bytes);
    if (candidates_ > 1.1 * limit) threshold_ns_ -= reference_ns_ / 8;
    if (candidates_ < 0.9 * limit) threshold_ns_ += reference_ns_ / 8;
    threshold_ns_ = std::clamp(threshold_ns_, reference_ns_ / 8, 2 * reference_ns_);
    candidates_ = 0;
    adapted_at_ = view.now();
  }

  FaultHeat heat_{{}};
  LruDemotion lru_;
  double reference_ns_;
  double limit_mbps_;
  double threshold_ns_;
  double candidates_ = 0;
  Nanoseconds adapted_at_{};
  double debt_ = 0;
};

}  // namespace

std::unique_ptr<TieringPolicy> make_fault_baseline(std::string_view name, std::size_t tuning) {
  constexpr std::array<double, tunings> scan = {256e6, 64e6, 1024e6, 256e6, 256e6};
  constexpr std::array<double, tunings> demote = {20, 20, 20, 50, 10};
  constexpr std::array<double, tunings> reference = {1e9, 1e9, 1e8, 1e7, 1e7};
  constexpr std::array<double, tunings> limit = {65'536, 100, 100, 100, 1000};
  if (name == "tpp-like") {
    return std::make_unique<TppLike>(FaultHeat::Settings{.scan_bytes_per_s = scan[tuning]},
                                     demote[tuning], base_page_mover);
  }
  if (name == "tpp-thp-like") {
    return std::make_unique<TppLike>(
        FaultHeat::Settings{.scan_bytes_per_s = scan[tuning], .pages_per_unit = 1}, demote[tuning],
        huge_page_mover);
  }
  if (name == "numa-balancing-2-like") {
    return std::make_unique<NumaBalancing2Like>(reference[tuning], limit[tuning]);
  }
  return nullptr;
}

}  // namespace cxltier::simulator
