// SPDX-License-Identifier: Apache-2.0
//
// Loaded latency of each tier, from a few dependent loads per node: no PMU, no root.
//
//   open     a chain of 256 KiB on each node that has a tier, up to eight nodes; where that fails
//            the node stays unprobed
//   probe    a few batches on each; an interrupted batch is dropped, never judged by its value
//   tier     median of the batches since the last take(), of the tier's nearest-to-idle node; and
//            the lowest quartile ever seen, which is the tier without load
//
// Medians, since one batch in twenty meets an interruption that the kernel does not count (a host
// that takes the processor away).  A batch is 64 loads: 18 us at 280 ns.  It sees reads only.
// Called only from the controller's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/machine.h"
#include "runtime/os/latency_chase.h"

namespace cxltier {

struct TierLatency {
  std::uint32_t idle_ps = 0;    // 0: never measured
  std::uint32_t loaded_ps = 0;  // 0: not measured since the last take()
  std::uint32_t batches = 0;    // behind loaded_ps
};

class LatencyProbe {
 public:
  static constexpr std::size_t batches_max = 64;  // kept of each node between two takes

  explicit LatencyProbe(LatencyChase& chase) noexcept : chase_(chase) {}

  // Once; later calls do nothing.
  void open(const Machine& machine, const TierMap& tiers) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }

  // `batches` on every node, in turn, so that all see the same load.
  void probe(std::size_t batches) noexcept;

  // What was measured since the last take(), by tier.
  [[nodiscard]] std::array<TierLatency, tiers_max> take() noexcept;

 private:
  struct Probed {
    std::size_t slot = 0;
    TierIndex tier = tier_none;
    std::uint32_t idle_ps = 0;
    std::size_t count = 0;
    std::array<std::uint32_t, batches_max> latency_ps{};
  };

  LatencyChase& chase_;
  bool is_open_ = false;
  std::size_t node_count_ = 0;
  std::array<Probed, LatencyChase::slots_max> nodes_{};
};

}  // namespace cxltier
