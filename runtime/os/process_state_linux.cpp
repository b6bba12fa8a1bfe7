// SPDX-License-Identifier: Apache-2.0
//
// Asks by waitid(2) that takes nothing, prctl(2) and sysfs.
#include "runtime/os/process_state_linux.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace cxltier {

ProcessStateLinux::ProcessStateLinux(FileTree& files, const ForkMarks& marks) noexcept
    : files_(files), marks_(marks), parent_at_start_(getppid()) {}

// In a process that was itself born by fork, the parent shares our pages for as long as it lives.
// WNOWAIT leaves every child to the application.
bool ProcessStateLinux::shares_pages() noexcept {
  const bool born_by_fork = marks_.born_by_fork.load(std::memory_order_relaxed);
  if (born_by_fork && parent_at_start_ > 1 && getppid() == parent_at_start_) return true;
  siginfo_t unused{};
  return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

bool ProcessStateLinux::huge_pages_by_default() noexcept {
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) return false;
  std::array<char, 64> text;
  const Result<std::size_t> size = files_.read("sys/kernel/mm/transparent_hugepage/enabled", text);
  return std::string_view(text.data(), size.value_or(0)).find("[always]") != std::string_view::npos;
}

}  // namespace cxltier
