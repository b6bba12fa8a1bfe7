// SPDX-License-Identifier: Apache-2.0
//
// Counting and cooling, arming and faulting.
#include "policy/simulator/heat_source.h"

#include <algorithm>

#include "policy/simulator/arithmetic.h"

namespace cxltier::simulator {
namespace {

constexpr double fault_cost_ns = 2000;  // 1 to 3 us on kernels of today
constexpr double fault_memory = 7.0 / 8;

}  // namespace

void SampledHeat::absorb(View& view) {
  counts_.resize(view.leaf_count());
  for (const std::uint32_t leaf : view.renewed()) counts_[leaf] = 0;
  samples_ = 0;
  has_cooled_ = false;
  double hottest = 0;
  for (std::size_t leaf = 0; leaf < counts_.size(); ++leaf) {
    const auto count = static_cast<double>(view.samples(leaf, settings_.period));
    counts_[leaf] += count / view.leaf_units();
    samples_ += count;
    hottest = std::max(hottest, counts_[leaf]);
  }
  since_cooling_ += samples_;
  if (settings_.cooling_count > 0) {
    for (; hottest > settings_.cooling_count; hottest /= 2) halve();
  }
  if (settings_.cooling_samples > 0 && since_cooling_ > settings_.cooling_samples) {
    halve();
    since_cooling_ = 0;
  }
}

double SampledHeat::binned_heat(std::size_t leaf) const {
  double edge = 1;
  while (counts_[leaf] + 1 >= 2 * edge) edge *= 2;
  return edge - 1;
}

void SampledHeat::halve() {
  for (double& count : counts_) count /= 2;
  has_cooled_ = true;
}

void FaultHeat::arm(View& view, std::size_t leaf, double units) {
  Leaf& now = leaves_[leaf];
  const double time_s = static_cast<double>(view.now().count) / 1e9;
  if (now.scanned_s >= 0) now.marked *= exp_of(-(time_s - now.scanned_s) / settings_.mark_time_s);
  now.scanned_s = time_s;
  const double per_unit = static_cast<double>(settings_.pages_per_unit);
  const auto armed = static_cast<std::uint64_t>(units * per_unit + 0.5);
  if (armed == 0) return;
  const double horizon = static_cast<double>(settings_.interval.count);
  const auto faults =
      static_cast<double>(view.faults_within(leaf, armed, settings_.pages_per_unit, horizon));
  view.charge(faults * fault_cost_ns);
  const double share = faults / static_cast<double>(armed);
  now.armed += units;
  now.faulted += units * share;
  now.promotable += units * share * now.marked;
  now.heat = now.heat * fault_memory + share * (1 - fault_memory);
  // What faulted is marked now; what was armed and did not fault keeps its mark until it fades.
  const double part = units / view.leaf_units();
  now.marked = std::min(1.0, now.marked + part * share * (1 - now.marked));
  touched_.push_back(static_cast<std::uint32_t>(leaf));
}

void FaultHeat::absorb(View& view) {
  leaves_.resize(view.leaf_count());
  for (const std::uint32_t leaf : view.renewed()) leaves_[leaf] = {};
  for (const std::uint32_t leaf : touched_) {
    leaves_[leaf].faulted = leaves_[leaf].promotable = leaves_[leaf].armed = 0;
  }
  touched_.clear();
  debt_units_ += settings_.scan_bytes_per_s * view.elapsed_s() / static_cast<double>(unit_bytes);
  std::size_t passed = 0;
  while (debt_units_ >= 1 && passed <= view.leaf_count()) {
    double there = 0;
    for (std::size_t t = settings_.scans == Scans::all_tiers ? 0 : 1; t < view.tier_count(); ++t) {
      there += view.resident(hand_)[t];
    }
    const double units = std::min(debt_units_, std::max(0.0, there - hand_units_));
    if (units > 0) arm(view, hand_, units);
    debt_units_ -= units;
    hand_units_ += units;
    if (hand_units_ + 0.5 < there) break;
    hand_units_ = 0;
    hand_ = (hand_ + 1) % view.leaf_count();
    ++passed;
  }
  if (passed > view.leaf_count()) debt_units_ = 0;
}

std::uint64_t FaultHeat::movable(std::size_t leaf, std::size_t tier, std::uint64_t resident) const {
  const Leaf& now = leaves_[leaf];
  if (settings_.scans == Scans::slow_tiers && tier == 0) return resident;
  return std::min(resident, static_cast<std::uint64_t>(now.faulted + 0.5));
}

double FaultHeat::faulted_within(View& view, std::size_t leaf, double horizon_ns) const {
  const Leaf& now = leaves_[leaf];
  const double per_unit = static_cast<double>(settings_.pages_per_unit);
  const auto armed = static_cast<std::uint64_t>(now.armed * per_unit + 0.5);
  if (armed == 0) return 0;
  const auto faults =
      static_cast<double>(view.faults_within(leaf, armed, settings_.pages_per_unit, horizon_ns));
  return faults / per_unit;
}

}  // namespace cxltier::simulator
