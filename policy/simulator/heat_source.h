// SPDX-License-Identifier: Apache-2.0
//
// What the published systems know of heat: sampled counts with the cooling of HeMem or MEMTIS, or
// hint faults as NUMA balancing takes them.
//
// Shared by the systems themselves and by Colloid, which is put on top of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/simulator/tiering_policy.h"

namespace cxltier::simulator {

class HeatSource {
 public:
  HeatSource() = default;
  HeatSource(const HeatSource&) = delete;
  HeatSource& operator=(const HeatSource&) = delete;
  virtual ~HeatSource() = default;

  [[nodiscard]] virtual Nanoseconds interval() const = 0;
  // Looks; called once in each tick.
  virtual void absorb(View& view) = 0;
  // Of one unit of a leaf, in units of its own.
  [[nodiscard]] virtual double heat(std::size_t leaf) const = 0;
  // The same in the bins by which the system sorts its pages, so that noise swaps no equals.
  [[nodiscard]] virtual double binned_heat(std::size_t leaf) const { return heat(leaf); }
  // Units of a leaf on a tier that may be moved now, of `resident` that are there.
  [[nodiscard]] virtual std::uint64_t movable(std::size_t leaf, std::size_t tier,
                                              std::uint64_t resident) const = 0;
};

// Counts of hardware samples, halved when it is time to forget.
class SampledHeat final : public HeatSource {
 public:
  struct Settings {
    double period = 5003;
    // HeMem: all counts are halved when a page's passes this.  0: never.
    double cooling_count = 0;
    // MEMTIS: and when so many samples were taken.  0: never.
    double cooling_samples = 0;
    Nanoseconds interval = milliseconds(100);
  };
  explicit SampledHeat(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] Nanoseconds interval() const override { return settings_.interval; }
  void absorb(View& view) override;
  [[nodiscard]] double heat(std::size_t leaf) const override { return counts_[leaf]; }
  // By powers of two, as MEMTIS's histogram and Colloid's lists are.
  [[nodiscard]] double binned_heat(std::size_t leaf) const override;
  [[nodiscard]] std::uint64_t movable(std::size_t /*leaf*/, std::size_t /*tier*/,
                                      std::uint64_t resident) const override {
    return resident;
  }
  // In this tick.
  [[nodiscard]] double samples() const { return samples_; }
  [[nodiscard]] bool has_cooled() const { return has_cooled_; }

 private:
  void halve();

  Settings settings_;
  std::vector<double> counts_;  // per unit
  double samples_ = 0;
  double since_cooling_ = 0;
  bool has_cooled_ = false;
};

// NUMA hint faults.  A scanner walks the memory and makes 256 MB a second inaccessible (in steps,
// the kernel's scan size and shortest period); the first access afterwards faults and tells its
// time.  A page that faults while it is marked active counts as hot; marks fade.
class FaultHeat final : public HeatSource {
 public:
  enum class Scans : std::uint8_t { slow_tiers, all_tiers };
  struct Settings {
    Scans scans = Scans::slow_tiers;
    double scan_bytes_per_s = 256e6;
    std::uint64_t pages_per_unit = unit_pages;  // 1: huge pages
    Nanoseconds interval = seconds(1);
    double mark_time_s = 60;
  };
  explicit FaultHeat(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] Nanoseconds interval() const override { return settings_.interval; }
  void absorb(View& view) override;
  // Share of its armed pages that faulted twice, decayed over scans; ages with 1/8.
  [[nodiscard]] double heat(std::size_t leaf) const override { return leaves_[leaf].heat; }
  [[nodiscard]] std::uint64_t movable(std::size_t leaf, std::size_t tier,
                                      std::uint64_t resident) const override;

  struct Leaf {
    double marked = 0;      // share of its pages marked active
    double heat = 0;        // faults per armed page
    double faulted = 0;     // units that faulted in this tick
    double promotable = 0;  // units that faulted while marked
    double armed = 0;       // units armed in this tick
    double scanned_s = -1;  // when it was armed last
  };
  [[nodiscard]] const Leaf& leaf(std::size_t index) const { return leaves_[index]; }
  // Units of an armed leaf whose fault came within `horizon_ns` of arming.
  [[nodiscard]] double faulted_within(View& view, std::size_t leaf, double horizon_ns) const;

 private:
  void arm(View& view, std::size_t leaf, double units);

  Settings settings_;
  std::vector<Leaf> leaves_;
  std::vector<std::uint32_t> touched_;  // leaves armed in this tick
  std::size_t hand_ = 0;                // where the scan goes on
  double hand_units_ = 0;               // of that leaf, armed already
  double debt_units_ = 0;
};

}  // namespace cxltier::simulator
