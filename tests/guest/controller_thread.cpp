// SPDX-License-Identifier: Apache-2.0
//
// Reads /proc/self/task, where each thread has its name and its processor time.
#include "tests/guest/controller_thread.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace cxltier::guest {

std::optional<int> controller_thread() {
  std::error_code gone;  // a thread may end while we look
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream in(task.path() / "comm");
    std::string name;
    if (std::getline(in, name) && name == "cxltier") return std::stoi(task.path().filename());
  }
  return std::nullopt;
}

std::uint64_t controller_cpu_ns() {
  const std::optional<int> thread = controller_thread();
  if (!thread) return 0;
  std::ifstream in("/proc/self/task/" + std::to_string(*thread) + "/schedstat");
  std::uint64_t on_cpu = 0;
  in >> on_cpu;
  return on_cpu;
}

}  // namespace cxltier::guest
