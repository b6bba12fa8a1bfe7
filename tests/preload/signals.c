/* SPDX-License-Identifier: Apache-2.0
 *
 * A profiler's signal a thousand times a second, whose handler touches thread-local memory, while
 * threads allocate: nothing of the allocator may be confused by it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tests/preload/expect.h"

enum { threads = 2, ticks_wanted = 50 };

static _Thread_local volatile long ticks_of_thread;
static atomic_long ticks;

static void on_tick(int signal) {
  (void)signal;
  const int kept = errno;
  errno = 12345;
  ++ticks_of_thread;
  atomic_fetch_add(&ticks, 1);
  errno = kept;
}

static void* allocate(void* argument) {
  unsigned seed = (unsigned)(size_t)argument;
  unsigned char* blocks[64] = {0};
  size_t sizes[64] = {0};
  /* The timer counts processor time, so this ends. */
  while (atomic_load(&ticks) < ticks_wanted) {
    const int at = rand_r(&seed) % 64;
    if (blocks[at] != NULL) EXPECT(blocks[at][sizes[at] - 1] == at);
    free(blocks[at]);
    sizes[at] = (size_t)(rand_r(&seed) % 30000) + 1;
    errno = 77;
    blocks[at] = malloc(sizes[at]);
    EXPECT(blocks[at] != NULL && errno == 77);
    blocks[at][sizes[at] - 1] = (unsigned char)at;
  }
  for (int at = 0; at < 64; ++at) free(blocks[at]);
  return NULL;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  EXPECT(sigaction(SIGPROF, &action, NULL) == 0);
  const struct itimerval timer = {{0, 1000}, {0, 1000}};
  EXPECT(setitimer(ITIMER_PROF, &timer, NULL) == 0);
  pthread_t ids[threads];
  for (size_t i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, allocate, (void*)(i + 1));
  for (size_t i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  return finish();
}
