/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap before everything else: the first allocations come from a constructor that runs before
 * the preload library's own, on several threads, and one of them forks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/expect.h"

static void* allocate(void* argument) {
  (void)argument;
  for (size_t size = 1; size < 1000000; size *= 2) {
    void* block = malloc(size);
    memset(block, 1, size);
    free(block);
  }
  return NULL;
}

static void start_early(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  pthread_t ids[3];
  for (int i = 0; i < 3; ++i) EXPECT(pthread_create(&ids[i], NULL, allocate, NULL) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    allocate(NULL);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT(status == 0);
  for (int i = 0; i < 3; ++i) pthread_join(ids[i], NULL);
}

/* The only array of functions that the loader runs before the constructors of libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(int, char**,
                                                                            char**) = start_early;

int main(void) {
  allocate(NULL);
  return finish();
}
