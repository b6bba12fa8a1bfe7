// SPDX-License-Identifier: Apache-2.0
//
// What a policy under test can see and do.
//
// A policy is ticked at its own interval.  It sees placement, and heat only through the sensors of
// a View, each with the noise and the cost of the real one; it answers with orders.  Oracles look
// through View::system(), nobody else does.
//
// A View is valid during one tick.  One thread for each simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/simulator/memory_system.h"
#include "policy/simulator/random.h"

namespace cxltier::simulator {

// Where a sensor's random numbers come from, so that no sensor disturbs another.
enum class Stream : std::uint64_t { samples = 1, writes, bits, faults, probe, counters, policy };

class View {
 public:
  View(MemorySystem& system, std::uint64_t seed, std::uint64_t tick)
      : system_(system), window_(system.window()), seed_(seed), tick_(tick) {}

  [[nodiscard]] Nanoseconds now() const { return system_.now(); }
  [[nodiscard]] double elapsed_s() const { return window_.elapsed_ns / 1e9; }
  [[nodiscard]] const MachineModel& machine() const { return system_.machine(); }
  [[nodiscard]] std::size_t tier_count() const { return machine().tier_count; }
  [[nodiscard]] std::size_t leaf_count() const { return system_.workload().leaf_count; }
  [[nodiscard]] std::uint32_t leaf_units() const { return system_.workload().leaf_units; }
  [[nodiscard]] const Residence32& resident(std::size_t leaf) const {
    return system_.resident(leaf);
  }
  [[nodiscard]] std::uint64_t used_units(std::size_t tier) const {
    return system_.used_units(tier);
  }
  [[nodiscard]] std::uint64_t free_units(std::size_t tier) const {
    return system_.free_units(tier);
  }
  [[nodiscard]] std::uint64_t capacity_units(std::size_t tier) const {
    return system_.workload().capacity_units[tier];
  }
  [[nodiscard]] std::uint64_t units_queued() const { return system_.units_queued(); }
  [[nodiscard]] std::uint8_t tenant_of(std::size_t leaf) const {
    const auto& tenants = system_.workload().tenant_of_leaf;
    return tenants.empty() ? std::uint8_t{0} : tenants[leaf];
  }
  // Leaves that were freed and allocated anew since the last tick, by the policy's own record.
  [[nodiscard]] const std::vector<std::uint32_t>& renewed() const { return renewed_; }
  void set_renewed(std::vector<std::uint32_t> leaves) { renewed_ = std::move(leaves); }

  // --- sensors; heat is of the time since the last tick ---

  // Hardware samples of loads, one in `period` accesses; costs 0.2 us each.
  [[nodiscard]] std::uint64_t samples(std::size_t leaf, double period);
  // 4 KiB pages of `watched` that were touched in a window of that length.
  [[nodiscard]] std::uint64_t touched_pages(std::size_t leaf, std::uint64_t watched,
                                            double window_ns);
  // The same for writes.
  [[nodiscard]] std::uint64_t written_pages(std::size_t leaf, std::uint64_t watched,
                                            double window_ns);
  // Of `armed` pages of `page_bytes`, those whose first access came within `horizon_ns`.
  [[nodiscard]] std::uint64_t faults_within(std::size_t leaf, std::uint64_t armed,
                                            std::uint64_t pages_per_unit, double horizon_ns);
  // Share of a leaf's first-touch and fault steps that went to a near address.
  [[nodiscard]] double sequential_share(std::size_t leaf) const;
  // Median of the dependent-load probes of the time since the last tick, 8 batches a second.
  [[nodiscard]] double probe_ns(std::size_t tier) const;
  // Uncore counters: mean latency and accesses/ns; 1 % noise in 100 ms.
  [[nodiscard]] double counted_latency_ns(std::size_t tier) const;
  [[nodiscard]] double counted_rate(std::size_t tier) const;
  // Traffic in GB/s; the same noise.
  [[nodiscard]] double counted_gbps(std::size_t tier) const;

  // Time of a core that looking cost the program, spread over the time until the next tick.
  void charge(double core_ns) { charged_core_ns_ += core_ns; }
  [[nodiscard]] double charged_core_ns() const { return charged_core_ns_; }

  // The truth; for oracles only.
  [[nodiscard]] const MemorySystem& system() const { return system_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::uint64_t tick() const { return tick_; }

 private:
  [[nodiscard]] Random random(Stream stream, std::size_t item) const {
    return {seed_, static_cast<std::uint64_t>(stream), tick_, item};
  }
  [[nodiscard]] double noise_of_counter(std::size_t item) const;
  [[nodiscard]] double page_rate(double lines, double pages_per_unit) const;

  MemorySystem& system_;
  Window window_;
  std::uint64_t seed_;
  std::uint64_t tick_;
  double charged_core_ns_ = 0;
  std::vector<std::uint32_t> renewed_;
};

class TieringPolicy {
 public:
  TieringPolicy() = default;
  TieringPolicy(const TieringPolicy&) = delete;
  TieringPolicy& operator=(const TieringPolicy&) = delete;
  virtual ~TieringPolicy() = default;

  // Time until the next tick; a multiple of the quantum.  Asked after each tick.
  [[nodiscard]] virtual Nanoseconds interval() const = 0;
  [[nodiscard]] virtual MoverModel mover() const { return {}; }
  // Shares of a new leaf's units by tier; what has no room goes to slower tiers.
  [[nodiscard]] virtual PerTier<double> placement(const MemorySystem& system, std::uint32_t leaf);
  // Writes orders; they replace those that are not carried out yet.
  virtual void tick(View& view, std::vector<Order>& orders) = 0;
  // What it would say of itself in one line, for timelines; empty: nothing.
  [[nodiscard]] virtual std::string remark() const { return {}; }
};

}  // namespace cxltier::simulator
