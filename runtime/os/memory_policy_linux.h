// SPDX-License-Identifier: Apache-2.0
//
// Memory policies and access bits of our own address space.  The controller's thread only.
#pragma once

#include "policy/machine.h"
#include "runtime/os/memory_policy.h"

namespace cxltier {

class MemoryPolicyLinux final : public MemoryPolicy {
 public:
  // `nodes`: every node that RangePolicy::all_nodes names.  `slower`: those of the slower ones; may
  // be empty.
  explicit MemoryPolicyLinux(const NodeSet& nodes, const NodeSet& slower = {}) noexcept
      : nodes_(nodes), slower_(slower) {}

  Result<Done> bind(AddressRange range, RangePolicy policy) noexcept override;
  Result<Done> cool(AddressRange range) noexcept override;
  Result<PolicyOwner> owner_of(std::uintptr_t address) noexcept override;

 private:
  NodeSet nodes_;
  NodeSet slower_;
};

// Whether the calling thread's own policy is the kernel's default.  It is not under numactl, and in
// a service or a container that sets one.
Result<PolicyOwner> owner_of_thread_policy() noexcept;

}  // namespace cxltier
