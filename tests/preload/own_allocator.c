/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that brings a jemalloc of its own: that one is its heap, and libc's blocks come from
 * it, whatever is preloaded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/expect.h"

int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size);

static size_t allocated(void) {
  uint64_t epoch = 1;
  size_t value = 0;
  size_t size = sizeof value;
  EXPECT(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
  EXPECT(mallctl("stats.allocated", &value, &size, NULL, 0) == 0);
  return value;
}

int main(void) {
  const size_t before = allocated();
  void* block = malloc(5000000);
  EXPECT(allocated() >= before + 5000000);
  free(block);
  for (int i = 0; i < 1000; ++i) {
    char* text = strdup("from libc");
    text = realloc(text, 100000);
    EXPECT(strcmp(text, "from libc") == 0);
    free(text);
  }
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(100000));
    _exit(0);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return finish();
}
