// SPDX-License-Identifier: Apache-2.0
//
// Sysfs of this machine.  A driver is waited for at most 30 s: a probe takes milliseconds, but an
// emulated machine may need seconds.
#pragma once

#include "runtime/os/file_tree_linux.h"
#include "runtime/provision/sysfs.h"

namespace cxltier {

class SysfsLinux final : public Sysfs {
 public:
  Result<Done> write(const std::string& path, const std::string& value) override;
  bool wait() override;
  void expect() override { waits_ = 0; }
  FileTree& tree() override { return tree_; }

 private:
  FileTreeLinux tree_{"/"};
  int waits_ = 0;
};

}  // namespace cxltier
