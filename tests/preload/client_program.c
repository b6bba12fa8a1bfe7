/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program that is linked with libcxltier.so: client_program absent|present, for what it must
 * find.  Exit status 0, or 1 and a line for each wrong answer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cxltier/cxltier.h"

static int failures;

static void expect(int truth, const char* what, long found) {
  if (truth) return;
  printf("FAILED: %s; found %ld\n", what, found);
  ++failures;
}

static int statistics_with_size(uint32_t size) {
  static char memory[8192];
  struct cxltier_statistics* out = (struct cxltier_statistics*)memory;
  out->size = size;
  return cxltier_statistics(out);
}

static void expect_bad_sizes_refused(void) {
  expect(cxltier_statistics(NULL) == -EINVAL, "no structure", 0);
  expect(statistics_with_size(0) == -EINVAL, "size 0", statistics_with_size(0));
  expect(statistics_with_size(55) == -EINVAL, "size 55", statistics_with_size(55));
  expect(statistics_with_size(4097) == -EINVAL, "size 4097", statistics_with_size(4097));
}

static void expect_absent(void) {
  const int found = statistics_with_size(sizeof(struct cxltier_statistics));
  expect(found == -ENOSYS, "statistics without the core", found);
  expect(cxltier_active() == 0, "active without the core", cxltier_active());
}

/* Grows the heap until the controller answers, or for a minute. */
static int wait_for_start(struct cxltier_statistics* out) {
  const struct timespec pause = {0, 20000000};
  int found = -EAGAIN;
  for (int i = 0; i < 3000 && found == -EAGAIN; ++i) {
    char* block = malloc(64 << 10);
    if (block == NULL) return -ENOMEM;
    memset(block, 1, 64 << 10);
    nanosleep(&pause, NULL);
    out->size = sizeof *out;
    found = cxltier_statistics(out);
  }
  return found;
}

/* In the child of a fork there is no controller yet, whatever the parent had published. */
static void expect_fresh_child(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    const int found = statistics_with_size(sizeof(struct cxltier_statistics));
    _exit(found == -EAGAIN && cxltier_active() == 0 ? 0 : 1);
  }
  waitpid(child, &status, 0);
  expect(status == 0, "statistics in a fork child", status);
}

static void expect_present(void) {
  int found = statistics_with_size(sizeof(struct cxltier_statistics));
  expect(found == -EAGAIN, "statistics before the heap has grown", found);
  expect(cxltier_active() == 0, "active before the heap has grown", cxltier_active());

  struct {
    struct cxltier_statistics known;
    uint64_t newer[2];
  } figures = {0};
  found = wait_for_start(&figures.known);
  expect(found == 0, "statistics after the heap has grown", found);
  expect(figures.known.state <= CXLTIER_STATE_STOPPED, "state", (long)figures.known.state);
  expect(figures.known.size == sizeof figures.known, "size is kept", (long)figures.known.size);

  memset(figures.newer, 0xff, sizeof figures.newer);
  figures.known.size = sizeof figures;
  found = cxltier_statistics(&figures.known);
  expect(found == 0, "statistics for a newer caller", found);
  expect(figures.newer[0] == 0 && figures.newer[1] == 0, "fields unknown to the core are 0", 1);
  expect_fresh_child();
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  expect(strcmp(cxltier_version(), CXLTIER_VERSION_EXPECTED) == 0, "version", 0);
  expect_bad_sizes_refused();
  if (strcmp(argv[1], "absent") == 0) expect_absent();
  if (strcmp(argv[1], "present") == 0) expect_present();
  return failures > 0;
}
