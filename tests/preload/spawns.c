/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to start a process that run no fork handler: vfork, posix_spawn, and a bare clone, whose
 * child may allocate where the parent has one thread. */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/expect.h"

enum { rounds = 30 };

extern char** environ;

static char* const command[] = {"true", NULL};

static void expect_success(pid_t child) {
  int status = -1;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void by_vfork(void) {
  const pid_t child = vfork();
  if (child == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  expect_success(child);
}

static void by_posix_spawn(void) {
  pid_t child = 0;
  EXPECT(posix_spawnp(&child, command[0], NULL, NULL, command, environ) == 0);
  expect_success(child);
}

static void by_clone(void) {
  const long child = syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, 0UL);
  if (child == 0) {
    alarm(20);
    for (size_t size = 1; size < 20000000; size *= 3) {
      char* block = malloc(size);
      if (block == NULL) _exit(1);
      memset(block, 1, size);
      free(block);
    }
    _exit(0);
  }
  expect_success((pid_t)child);
}

int main(void) {
  for (int i = 0; i < rounds; ++i) {
    char* block = malloc(100000);
    memset(block, i, 100000);
    by_vfork();
    by_posix_spawn();
    by_clone();
    EXPECT(block[0] == i && block[99999] == i);
    free(block);
  }
  return finish();
}
