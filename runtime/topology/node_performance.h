// SPDX-License-Identifier: Apache-2.0
//
// Latency and bandwidth of a node as firmware gives them (HMAT, CDAT), by way of the kernel.
//
// access1 holds the values seen from the best CPU and is asked first; access0 may be another
// initiator's.  Some kernels give a CXL node no access folders: then its region has them.
#pragma once

#include <cstdint>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/topology/finding.h"

namespace cxltier {

// Linux before 6.16 adds picoseconds to nanoseconds for CXL regions and so reports some 17,000 ns.
// No memory that a CPU loads from is slower than this; a slower far fabric would change it.
inline constexpr std::uint64_t latency_ns_max = 5'000;
// 100 TB/s, an order above any memory that exists.
inline constexpr std::uint64_t bandwidth_mbps_max = 100'000'000;

// Values that are implausible (a latency of 0 included) stay 0 and give one finding each kind.
// `region` is the node's CXL region, or -1.
[[nodiscard]] NodePerformance read_performance(FileTree& tree, NodeId node, std::int32_t region,
                                               Findings& findings) noexcept;

}  // namespace cxltier
