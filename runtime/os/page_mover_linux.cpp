// SPDX-License-Identifier: Apache-2.0
//
// move_pages(2) as a bare system call, with and without target nodes.
#include "runtime/os/page_mover_linux.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "policy/check.h"
#include "runtime/os/uapi.h"

namespace cxltier {

Result<Done> PageMoverLinux::locate(std::span<const std::uintptr_t> pages,
                                    std::span<int> status) noexcept {
  CXLTIER_CHECK(status.size() == pages.size() && pages.size() <= batch_max);
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) == -1) {
    return Error{errno};
  }
  return Done{};
}

// A positive return counts pages that did not move (mm/migrate.c, do_pages_move): the kernel gave
// up there and wrote no status for the rest.
Result<Done> PageMoverLinux::move(std::span<const std::uintptr_t> pages, NodeId node,
                                  std::span<int> status) noexcept {
  CXLTIER_CHECK(status.size() == pages.size() && pages.size() <= batch_max);
  std::fill(status.begin(), status.end(), -EAGAIN);
  std::fill_n(targets_.begin(), pages.size(), static_cast<int>(index_of(node)));
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), targets_.data(), status.data(),
              uapi::mpol_mf_move) == -1) {
    return Error{errno};
  }
  return Done{};
}

}  // namespace cxltier
