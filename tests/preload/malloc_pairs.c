/* SPDX-License-Identifier: Apache-2.0
 *
 * N times malloc and free of 64 bytes, for counting instructions.
 *
 *   malloc_pairs N */
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const long count = atol(argv[1]);
  for (long i = 0; i < count; ++i) {
    void* volatile block = malloc(64);
    free(block);
  }
  return 0;
}
