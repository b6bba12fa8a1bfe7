// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine at work: where each leaf's memory is, how fast the program runs with it
// there, and what moving and looking cost.
//
// Time passes in quanta.  Inside one, placement is fixed; the load solver says how fast each class
// runs; orders are carried out from a queue at the mover's rate, take bandwidth on both tiers and
// cores from the program; what sensors cost is taken from its cores too.  Nothing is random here.
//
//   orders ──► queue ──► units moved this quantum ──► shares of traffic by tier
//                              │                              │
//                              └──► bandwidth, stolen cores ──┴──► LoadSolver ──► progress, latency
//
// Invariants: a leaf's residence sums to its units; no tier holds more than its capacity.
// One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/simulator/load_solver.h"
#include "policy/simulator/workload.h"
#include "policy/units.h"

namespace cxltier::simulator {

inline constexpr Nanoseconds quantum = milliseconds(10);

using Residence32 = PerTier<std::uint32_t>;

// Units of one leaf that are to go from one tier to another.
struct Order {
  std::uint32_t leaf = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
  std::uint32_t units = 0;
};

// What moves pages, and what it costs.  Stalls: 500 us of a core for 2 MiB at once, 12 us for each
// 4 KiB page, end to end as measured on kernels without batching across pages.
struct MoverModel {
  double rate_gbps = 2;        // at most
  double stall_us_unit = 500;  // of a core, for each unit
  double threads = 1;          // that stall at once
};
inline constexpr double stall_us_huge = 500;
inline constexpr double stall_us_base = 12 * static_cast<double>(unit_pages);

// Sums since the last take_window().
struct Window {
  double elapsed_ns = 0;
  PerTier<double> lines{};         // accesses by tier, of the program
  PerTier<double> latency_sum{};   // lines times latency
  PerTier<double> latency_time{};  // latency times time
  PerTier<double> bytes{};         // everybody's traffic
};

class MemorySystem {
 public:
  MemorySystem(const MachineModel& machine, const Workload& workload);

  // Places a leaf that has no memory: shares of its units by tier as wished, spilled to the next
  // slower tier with room, then to any.
  void place(std::uint32_t leaf, const PerTier<double>& wish);
  // Replaces all orders that were not carried out.
  void replace_orders(const std::vector<Order>& orders, const MoverModel& mover);
  // Core time that the program loses, spread over the time until `until`.
  void charge(double core_ns, Nanoseconds until);
  // Passes one quantum.
  void advance();

  [[nodiscard]] Nanoseconds now() const { return now_; }
  [[nodiscard]] std::size_t phase() const { return phase_; }
  [[nodiscard]] bool at_phase_start() const { return workload_.phases[phase_].start == now_; }
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] const MachineModel& machine() const { return machine_; }
  [[nodiscard]] const Residence32& resident(std::size_t leaf) const { return resident_[leaf]; }
  [[nodiscard]] std::uint64_t used_units(std::size_t tier) const { return used_[tier]; }
  [[nodiscard]] std::uint64_t free_units(std::size_t tier) const {
    return workload_.capacity_units[tier] - used_[tier];
  }
  [[nodiscard]] std::uint64_t units_queued() const;
  // Of the last quantum.
  [[nodiscard]] double progress() const { return progress_; }
  [[nodiscard]] const LoadResult& load() const { return result_; }
  [[nodiscard]] double share(std::size_t class_index, std::size_t tier) const {
    return load_.classes[class_index].share[tier];
  }
  [[nodiscard]] std::uint64_t units_moved() const { return units_moved_; }
  [[nodiscard]] std::uint64_t units_promoted() const { return units_promoted_; }
  [[nodiscard]] std::uint64_t units_moved_of(std::size_t leaf) const { return moved_of_[leaf]; }
  // Accesses of a leaf, and writes among them, since the last take_window().
  [[nodiscard]] double leaf_lines(std::size_t leaf) const;
  [[nodiscard]] double leaf_writes(std::size_t leaf) const;
  [[nodiscard]] Window window() const { return window_; }
  void take_window();

  [[nodiscard]] bool is_consistent() const;

 private:
  void enter_phase(std::size_t phase);
  void free_leaf(std::uint32_t leaf);
  void recompute_shares();
  void settle_accesses();
  [[nodiscard]] bool carry_out_orders();
  void move_units(const Order& order, std::uint32_t units);
  void solve();

  const MachineModel& machine_;
  const Workload& workload_;
  LoadSolver solver_;
  LoadResult result_;
  Load load_;
  MoverModel mover_;
  Nanoseconds now_{};
  std::size_t phase_ = 0;
  std::vector<Residence32> resident_;
  std::vector<std::uint64_t> moved_of_;
  PerTier<std::uint64_t> used_{};
  PerTier<double> placement_debt_{};  // rounding carried from leaf to leaf

  std::vector<Order> orders_;
  std::size_t next_order_ = 0;
  double move_credit_units_ = 0;
  PerTier<double> moved_from_{};  // units in this quantum
  PerTier<double> moved_to_{};

  double charge_core_ns_ = 0;  // for each quantum until charge_until_
  Nanoseconds charge_until_{};
  double stolen_last_ = -1;
  bool is_stale_ = true;  // the solution does not belong to load_

  std::array<double, classes_max> full_speed_{};  // lines/ns of each class, alone and all fast
  double progress_ = 0;
  std::uint64_t units_moved_ = 0;
  std::uint64_t units_promoted_ = 0;
  std::uint64_t units_at_window_ = 0;

  Window window_;
  std::array<double, classes_max> class_lines_{};  // since settle_accesses()
  std::vector<double> leaf_lines_;
  std::vector<double> leaf_writes_;
};

// Lines/ns of a class that runs alone with all memory on the fastest tier: what progress 1 is.
[[nodiscard]] double full_speed_of(const MachineModel& machine, const AccessClass& alone);

// A class as the solver sees it, without its shares.
[[nodiscard]] ClassLoad class_load_of(const MachineModel& machine, const AccessClass& access);

}  // namespace cxltier::simulator
