/* SPDX-License-Identifier: Apache-2.0
 *
 * Expectations for programs that must not link a test framework: each runs twice or in a bare C
 * process, with the preload library in front.
 *
 * EXPECT notes a failure and goes on; finish() is the exit status. */
#pragma once

#include <stdio.h>

static int failures = 0;

#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      ++failures;                                                               \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                           \
  } while (0)

static inline int finish(void) {
  if (failures != 0) fprintf(stderr, "%d expectations failed\n", failures);
  return failures == 0 ? 0 : 1;
}
