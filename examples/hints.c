/* SPDX-License-Identifier: Apache-2.0
 *
 * An index that is used all the time, an archive that is not, and a key that must stay in DRAM. */
#include <cxltier/alloc.h>
#include <cxltier/cxltier.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { archive_bytes = 8 << 20 };

static void show_tiers(void) {
  struct cxltier_tier tiers[8] = {{.size = sizeof *tiers}};
  const int count = cxltier_tiers(tiers, 8);
  if (count < 0) {
    printf("no core in this process: hints are ignored\n");
    return;
  }
  for (int i = 0; i < count && i < 8; ++i) {
    printf("tier %d: %s, %llu MiB, %u ns, %u MB/s\n", i, tiers[i].is_dram ? "DRAM" : "not DRAM",
           (unsigned long long)(tiers[i].size_bytes >> 20), (unsigned)tiers[i].latency_ns,
           (unsigned)tiers[i].bandwidth_mbps);
  }
}

static void show_place(const char* what, const void* block) {
  struct cxltier_place place = {.size = sizeof place};
  if (cxltier_where(block, &place) == 0) {
    printf("%s: node %d, tier %d %s\n", what, (int)place.node, (int)place.tier, place.arena);
  }
}

int main(void) {
  show_tiers();

  char* index = cxltier_malloc(1 << 20, CXLTIER_HOT);
  if (index == NULL) return 1;
  memset(index, 1, 1 << 20);
  show_place("index", index);
  free(index); /* plain free takes every block */

  char* key = cxltier_malloc(32, CXLTIER_LOCAL_ONLY);
  if (key == NULL) printf("key: no promise of DRAM here (%s)\n", strerror(errno));
  cxltier_free(key);

  cxltier_hint archive = CXLTIER_COLD;
  if (cxltier_arena_create("archive", CXLTIER_COLD, &archive) != 0) archive = CXLTIER_COLD;
  char* rows = cxltier_calloc(1, archive_bytes, archive);
  if (rows == NULL) return 1;
  rows[archive_bytes - 1] = 42;
  show_place("archive", rows);
  if (cxltier_arena_move(archive, CXLTIER_HOT) == 0) show_place("archive, moved", rows);
  const int last = rows[archive_bytes - 1];
  if (cxltier_arena_destroy(archive) != 0) cxltier_free(rows);
  printf("last row: %d\n", last);
  return last == 42 ? 0 : 1;
}
