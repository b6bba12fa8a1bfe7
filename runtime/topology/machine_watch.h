// SPDX-License-Identifier: Apache-2.0
//
// Whether the nodes whose memory a process may use are still those that it started with.
//
// Memory comes and goes while programs run: a CXL region that is put to use, a device that is
// unplugged, a cpuset that is changed.  A look reads two small files, about 30 us; one every five
// seconds is free.  How much memory a node has is not looked at here: what is free on it is
// measured at each scan.  Nothing is allocated.  One thread.
#pragma once

#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier {

class MachineWatch {
 public:
  // Takes what is there now as known.
  void take(FileTree& tree) noexcept;

  // Whether something else is there now.  A file that cannot be read says nothing new.
  [[nodiscard]] bool is_outdated(FileTree& tree) const noexcept;

  // Whether there are nodes that the process cannot use today and might tomorrow, without memory or
  // outside its cpuset: which nodes there may ever be is settled at boot.
  [[nodiscard]] static bool may_grow(FileTree& tree) noexcept;

 private:
  NodeSet usable_;  // nodes that have memory and that the process may allocate from
};

}  // namespace cxltier
