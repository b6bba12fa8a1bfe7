// SPDX-License-Identifier: Apache-2.0
//
// mbind and move_pages without libnuma, which would be one library more in every process.
#include "allocator/numa_pages.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cxltier::heap {
namespace {

// include/uapi/linux/mempolicy.h of Linux 6.12; a distribution's headers may be older.
constexpr int mpol_default = 0;
constexpr int mpol_preferred = 1;
constexpr int mpol_bind = 2;
constexpr int mpol_interleave = 3;
constexpr int mpol_preferred_many = 5;
constexpr int mpol_weighted_interleave = 6;
constexpr unsigned mpol_mf_move = 1u << 1;

// The kernel reads one bit less than it is told (mm/mempolicy.c, get_nodes).
constexpr unsigned long mask_bits = node_ids_max + 1;

// Four huge pages: tens of microseconds to walk, and at 10 GB/s less than a millisecond to copy.
constexpr std::size_t move_step = std::size_t{8} << 20;

NodeMask lowest_of(const NodeMask& nodes) noexcept {
  NodeMask lowest{};
  for (std::size_t i = 0; i < nodes.words.size(); ++i) {
    const std::uint64_t word = nodes.words[i];
    if (word == 0) continue;
    lowest.words[i] = word & (~word + 1);
    break;
  }
  return lowest;
}

// 0 or an errno; errno itself stays.
int bind(Range range, int mode, const NodeMask& nodes, unsigned flags) noexcept {
  const int errno_before = errno;
  const bool no_nodes = mode == mpol_default;
  const long result =
      syscall(SYS_mbind, range.begin, range.end - range.begin, mode,
              no_nodes ? nullptr : nodes.words.data(), no_nodes ? 0UL : mask_bits, flags);
  const int error = result == -1 ? errno : 0;
  errno = errno_before;
  return error;
}

int bind_by_ladder(Range range, const Placement& placement, unsigned flags) noexcept {
  switch (placement.binding) {
    case Binding::none:
      return bind(range, mpol_default, {}, 0);  // a former class may have left its policy
    case Binding::prefer:
      if (bind(range, mpol_preferred_many, placement.nodes, flags) == 0) return 0;
      return bind(range, mpol_preferred, lowest_of(placement.nodes), flags);
    case Binding::interleave:
      if (bind(range, mpol_weighted_interleave, placement.nodes, flags) == 0) return 0;
      return bind(range, mpol_interleave, placement.nodes, flags);
    case Binding::strict:
      break;
  }
  return bind(range, mpol_bind, placement.nodes, flags);
}

}  // namespace

bool bind_pages(Range range, const Placement& placement) noexcept {
  return bind_by_ladder(range, placement, 0) == 0;
}

int move_pages_to(Range range, const Placement& placement) noexcept {
  for (std::uintptr_t at = range.begin; at < range.end; at += move_step) {
    const Range step{at, std::min(at + move_step, range.end)};
    if (const int error = bind_by_ladder(step, placement, mpol_mf_move); error != 0) return error;
  }
  return 0;
}

int node_of_page(const void* address) noexcept {
  const int errno_before = errno;
  const void* page = address;
  int status = -ENOENT;
  const long result = syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0);
  if (result == -1) status = -errno;
  errno = errno_before;
  return status;
}

}  // namespace cxltier::heap
