/* SPDX-License-Identifier: Apache-2.0
 *
 * Forks while other threads are inside the allocator; each child allocates and frees.
 *
 * A lock or a list that a child inherits in the middle of an update hangs it: the alarm tells. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/expect.h"

enum { forks = 500, threads = 3, children_at_once = 4 };

static atomic_int stop;

static void churn(unsigned* seed) {
  void* blocks[64] = {0};
  for (int i = 0; i < 200; ++i) {
    const int at = rand_r(seed) % 64;
    free(blocks[at]);
    /* Some are large enough to be mapped and purged. */
    const size_t size = rand_r(seed) % 50 == 0 ? 9000000 : (size_t)(rand_r(seed) % 20000);
    blocks[at] = malloc(size);
    if (blocks[at] != NULL && size > 0) memset(blocks[at], at, size < 100 ? size : 100);
  }
  for (int i = 0; i < 64; ++i) free(blocks[i]);
}

static void* churn_until_stopped(void* argument) {
  unsigned seed = (unsigned)(size_t)argument;
  while (!atomic_load(&stop)) churn(&seed);
  return NULL;
}

static void in_child(int number) {
  alarm(20);
  unsigned seed = (unsigned)number;
  churn(&seed);
  pthread_t thread;
  if (number % 10 == 0 && pthread_create(&thread, NULL, churn_until_stopped, (void*)7) == 0) {
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
  }
  _exit(0);
}

static void wait_for_one(void) {
  int status = -1;
  wait(&status);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) {
    pthread_create(&ids[i], NULL, churn_until_stopped, (void*)(size_t)(i + 1));
  }
  int alive = 0;
  for (int i = 0; i < forks && failures == 0; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) in_child(i);
    if (++alive == children_at_once) {
      wait_for_one();
      --alive;
    }
  }
  for (; alive > 0; --alive) wait_for_one();
  atomic_store(&stop, 1);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  return finish();
}
