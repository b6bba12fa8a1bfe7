// SPDX-License-Identifier: Apache-2.0
//
// The verb `bench`: hands its words to the program cxltier-bench, which stands beside this one.
//
// A program of its own, since the bench may know everything and the command line only the runtime,
// and since what is measured should not share a process with a command line's heap.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/cli/verb.h"

namespace cxltier {
namespace {

constexpr const char* program_name = "cxltier-bench";

// Beside this program; where that cannot be told, by PATH.
std::string program_path() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? program_name : (own.parent_path() / program_name).string();
}

// Returns only if the program could not be started.
int bench(std::span<char* const> words) {
  const std::string path = program_path();
  std::vector<char*> arguments = {const_cast<char*>(program_name)};
  arguments.insert(arguments.end(), words.begin(), words.end());
  arguments.push_back(nullptr);
  ::execvp(path.c_str(), arguments.data());
  complain(
      fmt::format("bench: cannot start {}: {}; it is installed beside cxltier, and built by "
                  "the target cxltier_bench",
                  path, std::strerror(errno)));
  return exit_failed;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code, std::span<char* const> words) {
  CLI::App* verb = app.add_subcommand("bench", "Measure what this machine's memory tiers can do");
  verb->set_help_flag();  // --help is the program's own
  verb->callback([words, &exit_code] { exit_code = bench(words); });
}

}  // namespace cxltier
