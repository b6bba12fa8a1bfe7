// SPDX-License-Identifier: Apache-2.0
//
// move_pages(2) on our own address space: needs no privilege.  The controller's thread only.
#pragma once

#include <array>

#include "runtime/os/page_mover.h"

namespace cxltier {

class PageMoverLinux final : public PageMover {
 public:
  Result<Done> locate(std::span<const std::uintptr_t> pages,
                      std::span<int> status) noexcept override;
  Result<Done> move(std::span<const std::uintptr_t> pages, NodeId node,
                    std::span<int> status) noexcept override;

 private:
  std::array<int, batch_max> targets_{};
};

}  // namespace cxltier
