// SPDX-License-Identifier: Apache-2.0
//
// Chains in memory of its own, one private mapping for each node.  Called from one thread.
#pragma once

#include <array>

#include "runtime/os/latency_chase.h"

namespace cxltier {

class LatencyChaseLinux final : public LatencyChase {
 public:
  LatencyChaseLinux() = default;
  LatencyChaseLinux(const LatencyChaseLinux&) = delete;
  LatencyChaseLinux& operator=(const LatencyChaseLinux&) = delete;
  ~LatencyChaseLinux();

  Result<Done> open(std::size_t slot, NodeId node) noexcept override;
  Result<std::uint32_t> walk(std::size_t slot) noexcept override;

  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t lines = slot_bytes / line_bytes;
  static constexpr std::size_t batch = 64;  // loads

 private:
  struct Line {
    Line* next;
    char rest[line_bytes - sizeof(Line*)];
  };
  struct Slot {
    Line* memory = nullptr;
    Line* at = nullptr;
  };

  static void link(Line* memory) noexcept;

  std::array<Slot, slots_max> slots_{};
  std::uint64_t timing_ns_ = 0;  // what reading the clock twice costs
};

}  // namespace cxltier
