// SPDX-License-Identifier: Apache-2.0
//
// Dependent loads from memory of one node, timed: what an access there costs right now, without a
// PMU and without privileges.  Contract of latency_chase_linux.cpp and of the tests' fake.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/units.h"
#include "runtime/os/result.h"

namespace cxltier {

class LatencyChase {
 public:
  static constexpr std::size_t slots_max = 8;  // nodes that can be probed
  static constexpr std::size_t slot_bytes = 256u << 10;

  // Prepares a chain of cache lines on `node`.  Fails, and keeps nothing, where memory cannot be
  // had there: ENOMEM (the node is full or the kernel put the pages elsewhere), EPERM, ENOSYS.
  // pre: slot < slots_max, not open
  virtual Result<Done> open(std::size_t slot, NodeId node) noexcept = 0;

  // One batch of dependent loads, of lines that no cache holds: picoseconds per load.  Fails with
  // EAGAIN if the thread was interrupted meanwhile: the figure would be the interruption's.
  // pre: slot is open
  virtual Result<std::uint32_t> walk(std::size_t slot) noexcept = 0;

 protected:
  ~LatencyChase() = default;
};

}  // namespace cxltier
