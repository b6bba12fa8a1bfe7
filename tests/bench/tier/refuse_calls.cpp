// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as a container without capabilities would: what Docker's default profile refuses
// answers EPERM.  refuse_calls PROGRAM [ARG...]
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::uint32_t refused[] = {SYS_mbind, SYS_move_pages, SYS_set_mempolicy,
                                     SYS_get_mempolicy, SYS_perf_event_open};

bool install_filter() {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const std::uint32_t call : refused) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (!install_filter()) {
    std::fprintf(stderr, "refuse_calls: no filter: %s\n", std::strerror(errno));
    return 77;
  }
  ::execv(argv[1], argv + 1);
  std::fprintf(stderr, "refuse_calls: %s: %s\n", argv[1], std::strerror(errno));
  return 1;
}
