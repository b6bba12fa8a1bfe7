/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program: no libstdc++ at start-up, and one that a plugin brings later.
 *
 *   without_libstdcxx PLUGIN */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/preload/expect.h"

static int libstdcxx_is_loaded(void) {
  void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL) dlclose(library);
  return library != NULL;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  EXPECT(!libstdcxx_is_loaded());
  void* (*operator_new)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "_Znwm");
  EXPECT(operator_new != NULL);
  void* block = operator_new(100);
  memset(block, 1, 100);
  free(block);
  volatile size_t too_large = (size_t)PTRDIFF_MAX + 1;
  EXPECT(operator_new(too_large) == NULL);

  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
  EXPECT(plugin != NULL);
  if (plugin == NULL) return finish();
  int (*survives)(void) = (int (*)(void))dlsym(plugin, "plugin_survives_a_failing_new");
  EXPECT(survives() == 1);
  return finish();
}
