// SPDX-License-Identifier: Apache-2.0
//
// What the first run does, as root, before it gives root up and runs the program again.
#include "tests/guest/preloaded.h"

#include <grp.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/guest/machine_nodes.h"

namespace cxltier::guest {
namespace {

constexpr const char* second_run = "CXLTIER_TEST_SECOND_RUN";
constexpr unsigned nobody = 65534;

[[noreturn]] void skip(const std::string& reason) {
  std::printf("cannot run here: %s\n", reason.c_str());
  std::exit(77);
}

void become_nobody() {
  if (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) {
    skip("cannot give up root");
  }
}

}  // namespace

void require_guest() {
  if (dram_nodes().size() < 2 || cxl_nodes().empty()) {
    skip("needs two nodes of DRAM and one of CXL memory; run it by qemu/run");
  }
}

void start_preloaded(char** arguments, const PreloadedStart& start) {
  setlinebuf(stdout);  // what was said before a test hangs shall be seen
  if (std::getenv(second_run) != nullptr) return;
  require_guest();
  if (geteuid() != 0) skip("must be started as root, which it gives up");
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const auto library = self.parent_path().parent_path() / "lib" / "libcxltier-preload.so";
  if (!std::filesystem::exists(library)) skip("no " + library.string());
  if (start.prepare) start.prepare();
  for (const std::string& variable : start.environment) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  setenv(second_run, "1", 1);
  setenv("LD_PRELOAD", library.c_str(), 1);
  become_nobody();
  execv(self.c_str(), arguments);
  std::perror("execv");
  std::exit(1);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  if (!(out << text << std::flush)) {
    std::printf("FAILED: cannot write '%s' to %s\n", text.c_str(), path.c_str());
    std::exit(1);
  }
}

}  // namespace cxltier::guest
