// SPDX-License-Identifier: Apache-2.0
//
// One quantum after another; the load is solved again only when something changed.
#include "policy/simulator/memory_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/check.h"

namespace cxltier::simulator {
namespace {

// The program keeps at least this much of its cores, whatever moving and looking cost.
constexpr double core_share_min = 0.05;

double quantum_ns() { return static_cast<double>(quantum.count); }

}  // namespace

ClassLoad class_load_of(const MachineModel& machine, const AccessClass& access) {
  ClassLoad load{.lines = access.lines, .think_ns = access.think_ns};
  for (std::size_t t = 0; t < machine.tier_count; ++t) {
    load.weight[t] = traffic_weight(machine.tiers[t], access.write_share);
  }
  return load;
}

double full_speed_of(const MachineModel& machine, const AccessClass& alone) {
  Load load{.class_count = 1};
  load.classes[0] = class_load_of(machine, alone);
  load.classes[0].share[0] = 1;
  return LoadSolver(machine).solve(load).rate[0];
}

MemorySystem::MemorySystem(const MachineModel& machine, const Workload& workload)
    : machine_(machine), workload_(workload), solver_(machine) {
  CXLTIER_CHECK(is_valid(workload, machine));
  resident_.resize(workload.leaf_count);
  moved_of_.resize(workload.leaf_count);
  leaf_lines_.resize(workload.leaf_count);
  leaf_writes_.resize(workload.leaf_count);
  load_.class_count = workload.class_count;
  load_.background_think_ns = machine.background_think_ns;
  load_.background_weight = traffic_weight(machine.tiers[0], machine.background_writes);
  for (std::size_t c = 0; c < workload.class_count; ++c) {
    full_speed_[c] = full_speed_of(machine, workload.classes[c]);
    load_.classes[c] = class_load_of(machine, workload.classes[c]);
  }
  enter_phase(0);
}

void MemorySystem::enter_phase(std::size_t phase) {
  settle_accesses();
  phase_ = phase;
  const Phase& now = workload_.phases[phase];
  load_.background_lines = machine_.background_lines * now.background_cores;
  for (const std::uint32_t leaf : now.renewed) free_leaf(leaf);
  recompute_shares();
}

void MemorySystem::free_leaf(std::uint32_t leaf) {
  for (std::size_t t = 0; t < machine_.tier_count; ++t) used_[t] -= resident_[leaf][t];
  resident_[leaf] = {};
  // The policy places it anew; until then it counts as being on the slowest tier.
}

void MemorySystem::recompute_shares() {
  const Phase& now = workload_.phases[phase_];
  const double units = workload_.leaf_units;
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    const Popularity& popularity = workload_.popularity[now.popularity[c]];
    PerTier<double> share{};
    for (std::size_t leaf = 0; leaf < workload_.leaf_count; ++leaf) {
      for (std::size_t t = 0; t < machine_.tier_count; ++t) {
        share[t] += popularity[leaf] * (resident_[leaf][t] / units);
      }
    }
    load_.classes[c].share = share;
  }
  is_stale_ = true;
}

void MemorySystem::place(std::uint32_t leaf, const PerTier<double>& wish) {
  CXLTIER_CHECK_DEBUG(std::accumulate(resident_[leaf].begin(), resident_[leaf].end(), 0u) == 0);
  const std::size_t tiers = machine_.tier_count;
  std::uint32_t left = workload_.leaf_units;
  PerTier<std::uint32_t> wanted{};
  for (std::size_t t = 0; t + 1 < tiers; ++t) {
    placement_debt_[t] += wish[t] * workload_.leaf_units;
    const double whole =
        std::clamp(std::floor(placement_debt_[t] + 0.5), 0.0, static_cast<double>(left));
    wanted[t] = static_cast<std::uint32_t>(whole);
    placement_debt_[t] -= whole;
    left -= wanted[t];
  }
  wanted[tiers - 1] = left;
  std::uint32_t spilled = 0;
  // Down the tiers, and once more from the top for what the slowest ones could not take.
  for (std::size_t step = 0; step < 2 * tiers; ++step) {
    const std::size_t t = step % tiers;
    const std::uint32_t want = (step < tiers ? wanted[t] : 0) + spilled;
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(want, free_units(t)));
    resident_[leaf][t] += taken;
    used_[t] += taken;
    spilled = want - taken;
  }
  CXLTIER_CHECK(spilled == 0);
  const Phase& now = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    const double popularity = workload_.popularity[now.popularity[c]][leaf] / workload_.leaf_units;
    for (std::size_t t = 0; t < tiers; ++t) {
      load_.classes[c].share[t] += popularity * resident_[leaf][t];
    }
  }
  is_stale_ = true;
}

void MemorySystem::replace_orders(const std::vector<Order>& orders, const MoverModel& mover) {
  orders_ = orders;
  next_order_ = 0;
  mover_ = mover;
}

std::uint64_t MemorySystem::units_queued() const {
  std::uint64_t units = 0;
  for (std::size_t i = next_order_; i < orders_.size(); ++i) units += orders_[i].units;
  return units;
}

void MemorySystem::charge(double core_ns, Nanoseconds until) {
  const double left =
      now_ < charge_until_
          ? charge_core_ns_ * static_cast<double>((charge_until_ - now_).count / quantum.count)
          : 0;
  const std::uint64_t quanta = std::max<std::uint64_t>(1, (until - now_).count / quantum.count);
  charge_until_ = {now_.count + quanta * quantum.count};
  charge_core_ns_ = (left + core_ns) / static_cast<double>(quanta);
}

void MemorySystem::move_units(const Order& order, std::uint32_t units) {
  const Phase& now = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    const double share = workload_.popularity[now.popularity[c]][order.leaf] *
                         (units / static_cast<double>(workload_.leaf_units));
    load_.classes[c].share[order.from] -= share;
    load_.classes[c].share[order.to] += share;
  }
  resident_[order.leaf][order.from] -= units;
  resident_[order.leaf][order.to] += units;
  used_[order.from] -= units;
  used_[order.to] += units;
  moved_from_[order.from] += units;
  moved_to_[order.to] += units;
  moved_of_[order.leaf] += units;
  units_moved_ += units;
  if (order.to < order.from) units_promoted_ += units;
}

// Carries out what the rate allows; whether anything moved.  An order that finds less on its source
// or no room on its target is cut, as a kernel refuses.
bool MemorySystem::carry_out_orders() {
  moved_from_ = {};
  moved_to_ = {};
  if (next_order_ == orders_.size()) {
    move_credit_units_ = 0;
    return false;
  }
  const double rate_by_stall = mover_.threads * 1000 / mover_.stall_us_unit;  // units/ms
  const double rate_by_bytes = mover_.rate_gbps * 1e6 / static_cast<double>(unit_bytes);
  move_credit_units_ += std::min(rate_by_stall, rate_by_bytes) * quantum_ns() / 1e6;
  bool has_moved = false;
  while (next_order_ < orders_.size() && move_credit_units_ >= 1) {
    Order& order = orders_[next_order_];
    const std::uint64_t possible = std::min<std::uint64_t>(
        {order.units, resident_[order.leaf][order.from], free_units(order.to)});
    const auto units = static_cast<std::uint32_t>(
        std::min(static_cast<double>(possible), std::floor(move_credit_units_)));
    if (units > 0) {
      move_units(order, units);
      has_moved = true;
      move_credit_units_ -= units;
      order.units -= units;
    }
    if (units == possible) ++next_order_;
  }
  return has_moved;
}

void MemorySystem::solve() {
  const double moved = std::accumulate(moved_to_.begin(), moved_to_.end(), 0.0);
  double stolen = moved * mover_.stall_us_unit * 1000;
  if (now_ < charge_until_) stolen += charge_core_ns_;
  if (stolen == stolen_last_ && !is_stale_) return;
  stolen_last_ = stolen;
  is_stale_ = false;
  const double cores = std::max(core_share_min, 1 - stolen / (machine_.cores * quantum_ns()));
  const Phase& phase = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    load_.classes[c].lines = workload_.classes[c].lines * phase.activity[c] * cores;
  }
  const double unit_rate = static_cast<double>(unit_bytes) / quantum_ns();
  for (std::size_t t = 0; t < machine_.tier_count; ++t) {
    load_.migration_gbps[t] = unit_rate * (moved_from_[t] * traffic_weight(machine_.tiers[t], 0) +
                                           moved_to_[t] * traffic_weight(machine_.tiers[t], 1));
  }
  result_ = solver_.solve(load_);
  progress_ = 0;
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    progress_ += workload_.classes[c].weight * result_.rate[c] / full_speed_[c];
  }
}

void MemorySystem::advance() {
  const bool had_moved = std::ranges::any_of(moved_to_, [](double units) { return units > 0; });
  if (carry_out_orders() || had_moved) is_stale_ = true;
  solve();
  window_.elapsed_ns += quantum_ns();
  for (std::size_t t = 0; t < machine_.tier_count; ++t) {
    window_.latency_time[t] += result_.latency_ns[t] * quantum_ns();
    window_.bytes[t] += result_.utilisation[t] * machine_.tiers[t].bandwidth_gbps * quantum_ns();
  }
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    const double lines = result_.rate[c] * quantum_ns();
    class_lines_[c] += lines;
    for (std::size_t t = 0; t < machine_.tier_count; ++t) {
      window_.lines[t] += lines * load_.classes[c].share[t];
      window_.latency_sum[t] += lines * load_.classes[c].share[t] * result_.latency_ns[t];
    }
  }
  now_.count += quantum.count;
  const bool is_last = phase_ + 1 == workload_.phases.size();
  if (!is_last && workload_.phases[phase_ + 1].start <= now_) enter_phase(phase_ + 1);
}

// Gives the accesses of the classes to their leaves, before popularity changes.
void MemorySystem::settle_accesses() {
  const Phase& now = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    if (class_lines_[c] == 0) continue;
    const Popularity& popularity = workload_.popularity[now.popularity[c]];
    const double writes = workload_.classes[c].write_share;
    for (std::size_t leaf = 0; leaf < workload_.leaf_count; ++leaf) {
      leaf_lines_[leaf] += class_lines_[c] * popularity[leaf];
      leaf_writes_[leaf] += class_lines_[c] * popularity[leaf] * writes;
    }
    class_lines_[c] = 0;
  }
}

double MemorySystem::leaf_lines(std::size_t leaf) const {
  double lines = leaf_lines_[leaf];
  const Phase& now = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    lines += class_lines_[c] * workload_.popularity[now.popularity[c]][leaf];
  }
  return lines;
}

double MemorySystem::leaf_writes(std::size_t leaf) const {
  double lines = leaf_writes_[leaf];
  const Phase& now = workload_.phases[phase_];
  for (std::size_t c = 0; c < workload_.class_count; ++c) {
    lines += class_lines_[c] * workload_.popularity[now.popularity[c]][leaf] *
             workload_.classes[c].write_share;
  }
  return lines;
}

void MemorySystem::take_window() {
  // Adding and subtracting shares leaves rounding behind; begin each window exactly.
  if (units_moved_ != units_at_window_) recompute_shares();
  units_at_window_ = units_moved_;
  window_ = {};
  class_lines_ = {};
  std::ranges::fill(leaf_lines_, 0.0);
  std::ranges::fill(leaf_writes_, 0.0);
}

bool MemorySystem::is_consistent() const {
  PerTier<std::uint64_t> used{};
  for (const Residence32& resident : resident_) {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < machine_.tier_count; ++t) {
      used[t] += resident[t];
      sum += resident[t];
    }
    if (sum != workload_.leaf_units) return false;
  }
  for (std::size_t t = 0; t < machine_.tier_count; ++t) {
    if (used[t] != used_[t] || used[t] > workload_.capacity_units[t]) return false;
  }
  return true;
}

}  // namespace cxltier::simulator
