// SPDX-License-Identifier: Apache-2.0
//
// Turns a test program into a preloaded, unprivileged one: it runs itself again.
//
//   started as root      prepare()     exec itself as nobody, LD_PRELOAD=libcxltier-preload.so
//   ------------------>  hog, sysctl   ---------------------------------------------------->  tests
//
// Ends the program with 77 and the reason where there is no CXL node, no root, no library.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cxltier::guest {

struct PreloadedStart {
  std::vector<std::string> environment;  // "CXLTIER_LIMIT=dram=24M"
  std::function<void()> prepare;         // as root, before; may be empty
};

// Returns in the second run only.
void start_preloaded(char** arguments, const PreloadedStart& start);

// For a program that needs the guest but no preloading.
void require_guest();

// What a test does as root to the machine, e.g. ("/proc/sys/kernel/numa_balancing", "1").
void write_file(const std::string& path, const std::string& text);

}  // namespace cxltier::guest
