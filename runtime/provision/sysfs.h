// SPDX-License-Identifier: Apache-2.0
//
// Changing sysfs: the seam through which `provision` acts on the machine.
#pragma once

#include <string>

#include "runtime/os/file_tree.h"

namespace cxltier {

class Sysfs {
 public:
  // Writes a value to an existing file; the path is relative to the root.
  // errors: the kernel's answer, such as ENXIO or EBUSY
  virtual Result<Done> write(const std::string& path, const std::string& value) = 0;
  // Waits a little for drivers, which probe in the background; false when patience is at its end.
  virtual bool wait() = 0;
  // Begins a new span of patience.
  virtual void expect() = 0;
  virtual FileTree& tree() = 0;

 protected:
  ~Sysfs() = default;
};

}  // namespace cxltier
