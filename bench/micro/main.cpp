// SPDX-License-Identifier: Apache-2.0
//
// hot_paths_bench: our defaults before the user's options, and --smoke.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace {

// The library's options in their own order: the last of two equal ones counts, so the user's win.
std::vector<const char*> with_defaults(int argc, char** argv) {
  std::vector<const char*> words = {argv[0]};
  bool smoke = false;
  for (int i = 1; i < argc; ++i) smoke = smoke || std::strcmp(argv[i], "--smoke") == 0;
  if (smoke) {
    words.insert(words.end(), {"--benchmark_min_time=0.001", "--benchmark_repetitions=1"});
  } else {
    words.insert(words.end(), {"--benchmark_min_time=0.1", "--benchmark_repetitions=9",
                               "--benchmark_enable_random_interleaving=true",
                               "--benchmark_report_aggregates_only=true"});
  }
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--smoke") != 0) words.push_back(argv[i]);
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> words = with_defaults(argc, argv);
  int count = static_cast<int>(words.size());
  char** const mutable_words = const_cast<char**>(words.data());
  benchmark::Initialize(&count, mutable_words);
  if (benchmark::ReportUnrecognizedArguments(count, mutable_words)) return 2;
  // A benchmark that skips itself with an error prints why; only one that ran none is a failure.
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ran == 0 ? 1 : 0;
}
