/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc and free of 64 bytes cost the same while memory of a class is in use.
 *
 * Counted by single steps of a child, in its real address space: callgrind lays memory out
 * otherwise, lower than the classes, where every free has to look twice. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cxltier/alloc.h"
#include "tests/preload/expect.h"

enum { pairs_few = 100, pairs_many = 300 };

static void run_pairs(int count) {
  for (int i = 0; i < count; ++i) {
    void* volatile block = malloc(64);
    free(block);
  }
}

/* Instructions of a child that runs `count` pairs; -1 where nobody may trace. */
static long steps_of(int count) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
    run_pairs(100); /* fills the cache of the thread */
    raise(SIGSTOP);
    run_pairs(count);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return -1;
  long steps = 0;
  while (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0) {
    ++steps;
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
  }
  return steps;
}

/* Of one pair, in hundredths. */
static long steps_per_pair(void) {
  const long few = steps_of(pairs_few);
  const long many = steps_of(pairs_many);
  return few < 0 || many < 0 ? -1 : (many - few) * 100 / (pairs_many - pairs_few);
}

int main(void) {
  const long before = steps_per_pair();
  if (before < 0) {
    printf("skipped: no permission to trace a child\n");
    return 77;
  }
  cxltier_hint arena = 0;
  EXPECT(cxltier_arena_create("in use", CXLTIER_COLD, &arena) == 0);
  void* block = cxltier_malloc(1000, arena);
  EXPECT(block != NULL);
  memset(block, 1, 1000);
  const long with = steps_per_pair();
  printf("instructions per pair: %ld.%02ld, with classes in use %ld.%02ld\n", before / 100,
         before % 100, with / 100, with % 100);
  EXPECT(before > 4000 && with <= before + 100);
  return finish();
}
