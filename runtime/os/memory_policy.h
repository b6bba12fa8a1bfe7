// SPDX-License-Identifier: Apache-2.0
//
// What may be said to the kernel about a range of our own address space without changing what the
// program sees.  Contract of memory_policy_linux.cpp and of the tests' fake.
#pragma once

#include <cstdint>

#include "runtime/os/address_range.h"
#include "runtime/os/result.h"

namespace cxltier {

// Where pages that are not there yet shall come from.
enum class Growth : std::uint8_t {
  local,   // the node of the running CPU, then any other
  slower,  // the nodes of slower tiers, then any other
};

// Two policies for each of these, with one effect; all of them leave the pages alone when the
// kernel balances NUMA.  Neighbours that alternate cannot merge, so each keeps a VMA, and with it a
// line in smaps, of its own.
enum class RangePolicy : std::uint8_t {
  local,         // MPOL_LOCAL
  all_nodes,     // MPOL_PREFERRED_MANY with every node that has memory
  slower,        // MPOL_PREFERRED_MANY with the nodes of slower tiers
  slower_fixed,  // the same with MPOL_F_STATIC_NODES
};
enum class Turn : std::uint8_t { even, odd };
constexpr RangePolicy range_policy(Growth growth, Turn turn) noexcept {
  const bool odd = turn == Turn::odd;
  if (growth == Growth::slower) return odd ? RangePolicy::slower_fixed : RangePolicy::slower;
  return odd ? RangePolicy::all_nodes : RangePolicy::local;
}

// Whose choice the policy of an address is.
enum class PolicyOwner : std::uint8_t {
  nobody,       // MPOL_DEFAULT, MPOL_LOCAL, or one of ours
  application,  // anything else: hands off
};

class MemoryPolicy {
 public:
  // mbind without moving.  errors: ENOMEM (too many VMAs, or a hole), EFAULT, EPERM, ENOSYS, EINVAL
  // (slower, and there is none)
  virtual Result<Done> bind(AddressRange range, RangePolicy policy) noexcept = 0;
  // Clears the access bits of a range (MADV_COLD).
  // errors: EINVAL (mlocked or hugetlb inside: nothing after it was cleared), ENOMEM (a hole)
  virtual Result<Done> cool(AddressRange range) noexcept = 0;
  virtual Result<PolicyOwner> owner_of(std::uintptr_t address) noexcept = 0;

 protected:
  ~MemoryPolicy() = default;
};

}  // namespace cxltier
