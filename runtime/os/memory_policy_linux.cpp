// SPDX-License-Identifier: Apache-2.0
//
// mbind, madvise and get_mempolicy as bare system calls: libnuma would be a library more in every
// preloaded process.
#include "runtime/os/memory_policy_linux.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "runtime/os/uapi.h"

namespace cxltier {
namespace {

// The kernel reads maxnode - 1 bits (mm/mempolicy.c, get_nodes), hence one more than the mask has.
constexpr unsigned long mask_bits = node_ids_max + 1;

void* pointer_to(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Result<Done> done_or_errno(long returned) noexcept {
  if (returned == -1) return Error{errno};
  return Done{};
}

struct KernelPolicy {
  int mode = 0;
  std::array<std::uint64_t, node_ids_max / 64> nodes{};
};

Result<KernelPolicy> policy_from_kernel(std::uintptr_t address, unsigned flags) noexcept {
  KernelPolicy policy;
  if (syscall(SYS_get_mempolicy, &policy.mode, policy.nodes.data(), node_ids_max, address, flags) ==
      -1) {
    return Error{errno};
  }
  policy.mode &= ~uapi::mpol_mode_flags;
  return policy;
}

bool is_neutral(const KernelPolicy& policy) noexcept {
  return policy.mode == uapi::mpol_default || policy.mode == uapi::mpol_local;
}

}  // namespace

Result<Done> MemoryPolicyLinux::bind(AddressRange range, RangePolicy policy) noexcept {
  if (policy == RangePolicy::local) {
    return done_or_errno(
        syscall(SYS_mbind, range.begin, range.size(), uapi::mpol_local, nullptr, 0UL, 0U));
  }
  const bool to_slower = policy != RangePolicy::all_nodes;
  if (to_slower && slower_.empty()) return Error{EINVAL};
  const int flags = policy == RangePolicy::slower_fixed ? uapi::mpol_f_static_nodes : 0;
  const NodeSet& nodes = to_slower ? slower_ : nodes_;
  return done_or_errno(syscall(SYS_mbind, range.begin, range.size(),
                               uapi::mpol_preferred_many | flags, nodes.words().data(), mask_bits,
                               0U));
}

Result<Done> MemoryPolicyLinux::cool(AddressRange range) noexcept {
  return done_or_errno(madvise(pointer_to(range.begin), range.size(), uapi::madv_cold));
}

Result<PolicyOwner> MemoryPolicyLinux::owner_of(std::uintptr_t address) noexcept {
  const Result<KernelPolicy> policy = policy_from_kernel(address, uapi::mpol_f_addr);
  if (!policy.ok()) return Error{policy.error()};
  const auto names = [&](const NodeSet& nodes) {
    return std::equal(nodes.words().begin(), nodes.words().end(), policy.value().nodes.begin());
  };
  const bool ours = policy.value().mode == uapi::mpol_preferred_many &&
                    (names(nodes_) || (!slower_.empty() && names(slower_)));
  return ours || is_neutral(policy.value()) ? PolicyOwner::nobody : PolicyOwner::application;
}

Result<PolicyOwner> owner_of_thread_policy() noexcept {
  const Result<KernelPolicy> policy = policy_from_kernel(0, 0);
  if (!policy.ok()) return Error{policy.error()};
  return is_neutral(policy.value()) ? PolicyOwner::nobody : PolicyOwner::application;
}

}  // namespace cxltier
