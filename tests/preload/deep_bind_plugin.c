/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks across the border of a library; see deep_bind.c. */
#include <stdlib.h>
#include <string.h>

char* plugin_make(const char* text);
void plugin_end(void* block);

char* plugin_make(const char* text) { return strdup(text); }

void plugin_end(void* block) {
  free(block);
  free(malloc(77));
}
