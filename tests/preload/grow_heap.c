/* SPDX-License-Identifier: Apache-2.0
 *
 * A heap of 32 MiB whose every word is known, held until standard input ends: what the runtime
 * does in the meantime must leave no trace in it. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/preload/expect.h"

enum { blocks = 512, block_bytes = 64 << 10, words = block_bytes / sizeof(uint64_t) };

static uint64_t* memory[blocks];

static uint64_t word_of(size_t block, size_t word) {
  return (block * words + word + 1) * 0x9e3779b97f4a7c15u;
}

static size_t wrong_words(void) {
  size_t wrong = 0;
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t w = 0; w < words; ++w) wrong += memory[b][w] != word_of(b, w);
  }
  return wrong;
}

int main(void) {
  for (size_t b = 0; b < blocks; ++b) {
    memory[b] = malloc(block_bytes);
    if (memory[b] == NULL) return 1;
    for (size_t w = 0; w < words; ++w) memory[b][w] = word_of(b, w);
  }
  printf("grown\n");
  fflush(stdout);

  char unused;
  while (read(STDIN_FILENO, &unused, 1) > 0) continue;

  EXPECT(wrong_words() == 0);
  for (size_t b = 0; b < blocks; ++b) free(memory[b]);
  printf("unchanged\n");
  return finish();
}
