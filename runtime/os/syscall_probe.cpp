// SPDX-License-Identifier: Apache-2.0
//
// The calls in their most harmless form, and the child that tries them where they could kill.
#include "runtime/os/syscall_probe.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/os/uapi.h"

namespace cxltier {
namespace {

// The call in its most harmless form; 0 or an errno.
int try_call(ProbedCall call, void* page, std::size_t page_size) noexcept {
  long returned = 0;
  int status = 0;
  switch (call) {
    case ProbedCall::mbind:
      returned = syscall(SYS_mbind, page, page_size, uapi::mpol_local, nullptr, 0UL, 0U);
      break;
    case ProbedCall::move_pages:
      returned = syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0);
      break;
    case ProbedCall::get_mempolicy:
      returned = syscall(SYS_get_mempolicy, &status, nullptr, 0UL, nullptr, 0UL);
      break;
    case ProbedCall::madvise_cold:
      returned = madvise(page, page_size, uapi::madv_cold);
      break;
    case ProbedCall::kinds:
      break;
  }
  return returned == -1 ? errno : 0;
}

// Everything here runs in a copy of the process with a single thread: bare system calls only.
[[noreturn]] void try_in_child(ProbedCall call, void* page, std::size_t page_size) noexcept {
  signal(SIGSYS, SIG_DFL);             // a handler of the application's would speak for us
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core file of a death that is expected
  const int error = try_call(call, page, page_size);
  syscall(SYS_exit_group, error);
  __builtin_unreachable();
}

ProbeVerdict verdict_of(int error) noexcept {
  using Kind = ProbeVerdict::Kind;
  return error == 0 ? ProbeVerdict{} : ProbeVerdict{Kind::refused, error};
}

}  // namespace

ProbeVerdict probe_call(ProbedCall call, void* page, std::size_t page_size) noexcept {
  constexpr int filter_mode = 2;  // SECCOMP_MODE_FILTER
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != filter_mode) {
    return verdict_of(try_call(call, page, page_size));
  }
  const long child = syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL);
  if (child == 0) try_in_child(call, page, page_size);
  if (child == -1) return {ProbeVerdict::Kind::refused, errno};
  int status = 0;
  while (waitpid(static_cast<pid_t>(child), &status, __WALL) == -1) {
    if (errno != EINTR) return {ProbeVerdict::Kind::refused, errno};
  }
  if (!WIFEXITED(status)) return {ProbeVerdict::Kind::kills, 0};
  return verdict_of(WEXITSTATUS(status));
}

const char* name_of(ProbedCall call) noexcept {
  switch (call) {
    case ProbedCall::mbind:
      return "mbind";
    case ProbedCall::move_pages:
      return "move_pages";
    case ProbedCall::get_mempolicy:
      return "get_mempolicy";
    case ProbedCall::madvise_cold:
      return "madvise(MADV_COLD)";
    case ProbedCall::kinds:
      break;
  }
  return "?";
}

}  // namespace cxltier
