// SPDX-License-Identifier: Apache-2.0
//
// The kernel's memory policies as the bench needs them, as bare system calls: without libnuma,
// whose releases lack the newer modes, and without a capability, since they concern our own pages
// only.
//
// All return 0 or an errno.  EPERM and ENOSYS mean a container's filter: the bench then takes what
// first touch gives and says so.  The task policy is the calling thread's own.
#pragma once

#include <cstddef>

#include "policy/machine.h"
#include "policy/units.h"

namespace cxltier::bench {

// Future pages of the range come from `node` and nowhere else (MPOL_BIND): a full node is an
// out-of-memory kill, so the caller has looked at its free memory.
[[nodiscard]] int bind_range(void* start, std::size_t bytes, NodeId node) noexcept;

// The pages stay where they are, and the kernel's NUMA balancing leaves them alone
// (MPOL_PREFERRED_MANY over `nodes`).
[[nodiscard]] int keep_range(void* start, std::size_t bytes, const NodeSet& nodes) noexcept;

// What the calling thread touches next in a range without a policy comes from `node`.
[[nodiscard]] int bind_thread(NodeId node) noexcept;
int unbind_thread() noexcept;

}  // namespace cxltier::bench
