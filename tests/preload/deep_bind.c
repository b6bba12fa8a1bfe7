/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that is opened with RTLD_DEEPBIND, and by the search path of its opener.
 *
 *   deep_bind PLUGIN      PLUGIN: a file name without folder, found by this program's RUNPATH
 *
 * The plugin frees what this program made and makes what this program frees. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/preload/expect.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  char* (*make)(const char*) = (char* (*)(const char*))dlsym(plugin, "plugin_make");
  void (*end)(void*) = (void (*)(void*))dlsym(plugin, "plugin_end");
  for (int i = 0; i < 1000; ++i) {
    char* made = make("made in the plugin");
    EXPECT(strcmp(made, "made in the plugin") == 0);
    free(made);
    end(malloc((size_t)i * 100));
    end(strdup("made in the program"));
  }
  EXPECT(dlopen("no such library", RTLD_NOW) == NULL && dlerror() != NULL);
  dlclose(plugin);
  return finish();
}
