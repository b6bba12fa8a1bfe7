/* SPDX-License-Identifier: Apache-2.0
 *
 * N times malloc and free of 64 bytes, for counting instructions.
 *
 *   malloc_pairs N [classes]     classes: while hinted memory is in use
 */
#include <stdlib.h>
#include <string.h>

#include "cxltier/alloc.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const long count = atol(argv[1]);
  if (argc == 3) {
    cxltier_hint arena = 0;
    if (cxltier_arena_create("in use", CXLTIER_COLD, &arena) != 0) return 1;
    void* block = cxltier_malloc(1000, arena);
    if (block == NULL) return 1;
    memset(block, 1, 1000);
  }
  for (long i = 0; i < count; ++i) {
    void* volatile block = malloc(64);
    free(block);
  }
  return 0;
}
