/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program under the system-call filter of Debian's redis-server.service, or under what
 * Docker's default profile says of memory:
 *
 *   service_filter [--docker | --docker-nice] PROGRAM [ARG...]
 *
 * Docker's profile answers EPERM.  Policies need CAP_SYS_NICE there (--docker-nice: given), moving
 * pages is never allowed (moby/profiles, seccomp/default.json).
 *
 * The unit says SystemCallFilter=~ @privileged @resources and no SystemCallErrorNumber=, so every
 * call of these two groups kills the process.  The list is what `systemd-analyze syscall-filter`
 * of systemd 252 (Debian 12) prints for them, @privileged with its own groups @chown, @clock,
 * @module, @raw-io, @reboot and @swap; without the variants that only 32-bit and S/390 programs
 * have, and without calls that the kernel's headers here do not know.
 *
 * Only the numbers of the program's own architecture are filtered: nothing here runs another's.
 * no_new_privs stays set, as systemd sets it for every unit with a filter and without
 * privileges. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned killing_calls[] = {
    /* @resources */
    __NR_ioprio_set,
    __NR_mbind,
    __NR_migrate_pages,
    __NR_move_pages,
    __NR_sched_setaffinity,
    __NR_sched_setattr,
    __NR_sched_setparam,
    __NR_sched_setscheduler,
    __NR_set_mempolicy,
    __NR_setpriority,
#ifdef __NR_nice
    __NR_nice,
#endif
#ifdef __NR_set_mempolicy_home_node
    __NR_set_mempolicy_home_node,
#endif
#ifdef __NR_setrlimit
    __NR_setrlimit,
#endif
    /* @privileged: @chown */
    __NR_fchown,
    __NR_fchownat,
#ifdef __NR_chown
    __NR_chown,
    __NR_lchown,
#endif
    /* @clock */
    __NR_adjtimex,
    __NR_clock_adjtime,
    __NR_clock_settime,
    __NR_settimeofday,
    /* @module, @reboot, @swap */
    __NR_delete_module,
    __NR_finit_module,
    __NR_init_module,
    __NR_kexec_load,
    __NR_reboot,
    __NR_swapoff,
    __NR_swapon,
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
/* @raw-io */
#ifdef __NR_ioperm
    __NR_ioperm,
    __NR_iopl,
#endif
    /* the rest of @privileged */
    __NR_acct,
    __NR_bpf,
    __NR_capset,
    __NR_chroot,
    __NR_fanotify_init,
    __NR_fanotify_mark,
    __NR_nfsservctl,
    __NR_open_by_handle_at,
    __NR_pivot_root,
    __NR_quotactl,
    __NR_setdomainname,
    __NR_setfsuid,
    __NR_setgroups,
    __NR_sethostname,
    __NR_setresuid,
    __NR_setreuid,
    __NR_setuid,
    __NR_vhangup,
#ifdef __NR__sysctl
    __NR__sysctl,
#endif
#ifdef __NR_quotactl_fd
    __NR_quotactl_fd,
#endif
};

static const unsigned docker_calls[] = {
    __NR_move_pages,
    __NR_migrate_pages,
    __NR_userfaultfd,
    /* with CAP_SYS_NICE: */
    __NR_mbind,
    __NR_get_mempolicy,
    __NR_set_mempolicy,
};

struct Filter {
  const char* option;
  const unsigned* calls;
  size_t count;
  unsigned answer;
};
static const struct Filter filters[] = {
    {"--docker", docker_calls, 6, SECCOMP_RET_ERRNO | EPERM},
    {"--docker-nice", docker_calls, 3, SECCOMP_RET_ERRNO | EPERM},
    {NULL, killing_calls, sizeof killing_calls / sizeof *killing_calls, SECCOMP_RET_KILL_PROCESS},
};

enum { calls_max = sizeof killing_calls / sizeof *killing_calls };

/* Two instructions for each call, one that loads its number before them and one that allows. */
static int install_filter(const struct Filter* filter) {
  static struct sock_filter code[2 * calls_max + 2];
  struct sock_fprog program = {.len = (unsigned short)(2 * filter->count + 2), .filter = code};
  struct sock_filter* at = code;
  *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < filter->count; ++i) {
    *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, filter->calls[i], 0, 1);
    *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, filter->answer);
  }
  *at = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char** argv) {
  const struct Filter* filter = filters;
  while (filter->option != NULL && (argc < 2 || strcmp(argv[1], filter->option) != 0)) ++filter;
  char** command = argv + (filter->option == NULL ? 1 : 2);
  if (argc < 2 || *command == NULL) {
    fprintf(stderr, "usage: service_filter [--docker | --docker-nice] PROGRAM [ARG...]\n");
    return 2;
  }
  if (install_filter(filter) != 0) {
    printf("skipped: this kernel takes no system-call filter: %s\n", strerror(errno));
    return 77;
  }
  execvp(*command, command);
  fprintf(stderr, "service_filter: %s: %s\n", *command, strerror(errno));
  return 127;
}
