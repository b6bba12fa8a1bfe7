// SPDX-License-Identifier: Apache-2.0
//
// Children, forks and huge pages of this process.  The controller's thread only.
#pragma once

#include <atomic>

#include "runtime/os/file_tree.h"
#include "runtime/os/process_state.h"

namespace cxltier {

// Set by the seat when the process forks, at any time, from the application's threads.
struct ForkMarks {
  std::atomic<bool> forks{false};         // this process has forked
  std::atomic<bool> born_by_fork{false};  // it is the child of such a fork, without an exec since
};

class ProcessStateLinux final : public ProcessState {
 public:
  ProcessStateLinux(FileTree& files, const ForkMarks& marks) noexcept;

  bool shares_pages() noexcept override;
  bool forks() noexcept override { return marks_.forks.load(std::memory_order_relaxed); }
  bool huge_pages_by_default() noexcept override;

 private:
  FileTree& files_;
  const ForkMarks& marks_;
  int parent_at_start_;
};

}  // namespace cxltier
