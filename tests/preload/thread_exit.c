/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that allocate and free while they die: destructors of thread-specific values run in
 * rounds, the last of them after the allocator has taken its own per-thread state down. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/preload/expect.h"

enum { generations = 200, threads = 5 };

static pthread_key_t key;
static atomic_long destructor_runs;

struct Value {
  int round;
  char* text;
};

static struct Value* make_value(int round) {
  struct Value* value = malloc(sizeof *value);
  value->round = round;
  value->text = malloc(5000);
  memset(value->text, round, 5000);
  return value;
}

static void destroy(void* argument) {
  struct Value* value = argument;
  EXPECT(value->text[4999] == value->round);
  atomic_fetch_add(&destructor_runs, 1);
  if (value->round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, make_value(value->round + 1));
  }
  free(value->text);
  free(value);
  free(calloc(100, 100));
}

static void* live_and_die(void* argument) {
  pthread_setspecific(key, make_value(1));
  /* A block of another thread, freed here: it goes through this thread's cache. */
  free(argument);
  return NULL;
}

int main(void) {
  pthread_key_create(&key, destroy);
  for (int generation = 0; generation < generations; ++generation) {
    pthread_t ids[threads];
    for (int i = 0; i < threads; ++i) {
      EXPECT(pthread_create(&ids[i], NULL, live_and_die, malloc(300)) == 0);
    }
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  }
  EXPECT(destructor_runs == (long)generations * threads * PTHREAD_DESTRUCTOR_ITERATIONS);
  return finish();
}
