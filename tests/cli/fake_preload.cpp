// SPDX-License-Identifier: Apache-2.0
//
// A library under the name of the preload library.  It does nothing, or with FAKE_CONTROLLER set
// starts a thread that is named as the controller's is.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

extern "C" int cxltier_fake_preload_is_loaded;
int cxltier_fake_preload_is_loaded = 1;

namespace {

const bool started = [] {
  if (std::getenv("FAKE_CONTROLLER") == nullptr) return false;
  std::thread([] {
    prctl(PR_SET_NAME, "cxltier", 0, 0, 0);
    for (;;) pause();
  }).detach();
  return true;
}();

}  // namespace
