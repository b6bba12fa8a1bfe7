// SPDX-License-Identifier: Apache-2.0
//
// The probe of system calls where some of them kill: run by service_filter.
//
// It must tell which ones, and the program must neither die of it nor notice it: no SIGCHLD, no
// child that waits to be reaped, and children of its own still its own.
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/os/syscall_probe.h"
#include "tests/preload/expect.h"

namespace {

using cxltier::probe_call;
using cxltier::ProbedCall;
using Kind = cxltier::ProbeVerdict::Kind;

volatile sig_atomic_t child_signals = 0;
void count_child_signal(int) { child_signals = child_signals + 1; }

bool has_child() {
  siginfo_t unused{};
  return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

void tells_what_kills(void* page, std::size_t size) {
  EXPECT(probe_call(ProbedCall::mbind, page, size).kind == Kind::kills);
  EXPECT(probe_call(ProbedCall::move_pages, page, size).kind == Kind::kills);
  EXPECT(probe_call(ProbedCall::get_mempolicy, page, size).kind == Kind::works);
  EXPECT(probe_call(ProbedCall::madvise_cold, page, size).kind == Kind::works);
}

void leaves_no_trace() {
  EXPECT(child_signals == 0);
  EXPECT(!has_child());
}

// A child that has ended and was not waited for yet must still be there afterwards.
void takes_no_child_of_the_program(void* page, std::size_t size) {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  siginfo_t unused{};
  EXPECT(waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT) == 0);
  EXPECT(probe_call(ProbedCall::mbind, page, size).kind == Kind::kills);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT(child_signals == 1);
}

}  // namespace

int main() {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) {
    fprintf(stderr, "no filter is in force: run by service_filter\n");
    return 2;
  }
  struct sigaction action {};
  action.sa_handler = count_child_signal;
  sigaction(SIGCHLD, &action, nullptr);
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  *static_cast<volatile char*>(page) = 1;

  tells_what_kills(page, size);
  leaves_no_trace();
  takes_no_child_of_the_program(page, size);
  return finish();
}
