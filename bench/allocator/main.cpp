// SPDX-License-Identifier: Apache-2.0
//
// allocator_bench: the allocator against those of the distribution.
//
//   allocator_bench --library FILE [--load FILE] [--out FILE] [--rounds N] [--no-counts]
//   [--no-times]
//                   [--smoke]
//
// Timings are paired: in each round every allocator runs every load once, in an order that rotates,
// and ratios are taken within a round; so a disturbance meets all of them.  Instruction counts are
// exact.  Exit status 1 if a gate that was measured is not held (timing gates only without
// --smoke).
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "bench/allocator/report.h"
#include "bench/allocator/runs.h"

namespace {

using namespace cxltier::bench;

struct Options {
  std::string library;
  std::string load;
  std::string out;
  int rounds = 9;
  bool counts = true;
  bool times = true;
  bool smoke = false;
};

[[noreturn]] void fail_usage(const std::string& problem) {
  std::fprintf(stderr, "allocator_bench: %s; see the head of bench/allocator/main.cpp\n",
               problem.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.load = folder / "allocator_load";
  options.library = folder.parent_path() / "lib" / "libcxltier-preload.so";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (++i >= argc) fail_usage(word + " needs a value");
      return std::string(argv[i]);
    };
    if (word == "--library")
      options.library = value();
    else if (word == "--load")
      options.load = value();
    else if (word == "--out")
      options.out = value();
    else if (word == "--rounds")
      options.rounds = std::atoi(value().c_str());
    else if (word == "--no-counts")
      options.counts = false;
    else if (word == "--no-times")
      options.times = false;
    else if (word == "--smoke")
      options.smoke = true;
    else
      fail_usage("unknown option '" + word + "'");
  }
  if (options.smoke) options.rounds = 1;
  if (options.rounds < 1) fail_usage("--rounds is a number above 0");
  if (!std::filesystem::exists(options.library)) fail_usage("no library " + options.library);
  return options;
}

void time_all(const Options& options, const std::vector<Allocator>& allocators, AllRuns& runs) {
  for (int round = 0; round < options.rounds; ++round) {
    for (const Load& load : all_loads()) {
      for (std::size_t i = 0; i < allocators.size(); ++i) {
        const Allocator& one =
            allocators[(i + static_cast<std::size_t>(round)) % allocators.size()];
        const long pairs = options.smoke ? load.pairs_timed / 100 : load.pairs_timed;
        runs[load.name][one.name].ns_per_pair.push_back(
            nanoseconds_per_pair(options.load, one, load, pairs)
                .value_or(std::numeric_limits<double>::quiet_NaN()));
      }
    }
  }
}

void count_all(const Options& options, const std::vector<Allocator>& allocators, AllRuns& runs) {
  for (const Load& load : all_loads()) {
    if (load.pairs_counted == 0) continue;
    for (const Allocator& one : allocators) {
      runs[load.name][one.name].instructions = instructions_per_pair(options.load, one, load);
    }
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::vector<std::string> missing;
  const std::vector<Allocator> allocators = find_allocators(options.library, missing);
  for (const std::string& name : missing) std::printf("not installed: %s\n", name.c_str());
  AllRuns runs;
  if (options.times) time_all(options, allocators, runs);
  const bool has_valgrind = std::system("command -v valgrind >/dev/null") == 0;
  if (options.counts && !has_valgrind) std::printf("not counted: valgrind is not installed\n");
  if (options.counts && has_valgrind && !options.smoke) count_all(options, allocators, runs);

  std::printf("%s", table_of(runs).c_str());
  int status = 0;
  for (const Gate& gate : gates_of(runs)) {
    if (!gate.value) continue;
    std::printf("%s: %s: %.3f, %s %.2f\n", gate.held() ? "held" : "NOT HELD", gate.name.c_str(),
                *gate.value, gate.at_least ? "at least" : "at most", gate.limit);
    if (!gate.held() && !options.smoke) status = 1;
  }
  if (!options.out.empty()) {
    nlohmann::json document = json_of(runs);
    document["date"] = today();
    document["rounds"] = options.rounds;
    document["missing"] = missing;
    std::ofstream(options.out) << document.dump(2) << '\n';
  }
  return status;
}
