// SPDX-License-Identifier: Apache-2.0
//
// Where the other allocators lie, and the two ways to run the load.
#include "bench/allocator/runs.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace cxltier::bench {
namespace {

constexpr std::array library_folders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                     "/usr/lib64", "/usr/lib"};

std::string find_library(const char* file) {
  for (const char* folder : library_folders) {
    const auto path = std::filesystem::path(folder) / file;
    if (std::filesystem::exists(path)) return path.string();
  }
  return {};
}

// What a command prints, or empty if it failed.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), size);
  }
  if (pclose(pipe) != 0) return std::nullopt;
  return text;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string environment_of(const Allocator& allocator) {
  std::string text = "env ";
  if (!allocator.environment.empty()) text += quoted(allocator.environment) + " ";
  if (!allocator.library.empty()) text += quoted("LD_PRELOAD=" + allocator.library) + " ";
  return text;
}

std::optional<double> instructions(const std::string& program, const Allocator& allocator,
                                   const Load& load, long pairs) {
  const std::optional<std::string> text = output_of(
      environment_of(allocator) + "valgrind --tool=callgrind --callgrind-out-file=/dev/null " +
      quoted(program) + " " + load.name + " " + std::to_string(pairs) + " 2>&1");
  constexpr const char* label = "Collected : ";
  const std::size_t at = text ? text->find(label) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text->c_str() + at + std::string(label).size(), nullptr);
}

}  // namespace

std::vector<Allocator> find_allocators(const std::string& ours, std::vector<std::string>& missing) {
  struct Known {
    const char* name;
    const char* file;
    const char* package;
    const char* environment;
  };
  // KIND:DRAM is the cheapest way through libmemtier: one kind of memory, nothing to decide.
  constexpr std::array known{
      Known{"jemalloc", "libjemalloc.so.2", "libjemalloc2", ""},
      Known{"mimalloc", "libmimalloc.so.2", "libmimalloc2.0", ""},
      Known{"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", ""},
      Known{"libmemtier", "libmemtier.so.0", "libmemkind0",
            "MEMKIND_MEM_TIERS=KIND:DRAM,RATIO:1;POLICY:STATIC_RATIO"}};
  std::vector<Allocator> found{{"cxltier", ours, "CXLTIER_LOG=off"}, {"glibc", "", ""}};
  for (const Known& one : known) {
    const std::string library = find_library(one.file);
    if (library.empty()) {
      missing.emplace_back(std::string(one.name) + " (package " + one.package + ")");
    } else {
      found.push_back({one.name, library, one.environment});
    }
  }
  return found;
}

const std::vector<Load>& all_loads() {
  static const std::vector<Load> loads{
      {"pair_64", 8'000'000, 100'000},       {"batch_64", 8'000'000, 128'000},
      {"new_delete_64", 8'000'000, 100'000}, {"random_16_516", 4'000'000, 200'000},
      {"pair_200k", 400'000, 20'000},        {"two_threads_64", 6'000'000, 0},
      {"cross_thread_64", 2'000'000, 0}};
  return loads;
}

std::optional<double> nanoseconds_per_pair(const std::string& program, const Allocator& allocator,
                                           const Load& load, long pairs) {
  const std::optional<std::string> text =
      output_of(environment_of(allocator) + quoted(program) + " " + load.name + " " +
                std::to_string(pairs) + " 2>/dev/null");
  if (!text || text->empty()) return std::nullopt;
  return std::strtod(text->c_str(), nullptr);
}

std::optional<double> instructions_per_pair(const std::string& program, const Allocator& allocator,
                                            const Load& load) {
  const long few = load.pairs_counted / 4;
  const std::optional<double> of_few = instructions(program, allocator, load, few);
  const std::optional<double> of_many =
      instructions(program, allocator, load, few + load.pairs_counted);
  if (!of_few || !of_many) return std::nullopt;
  return (*of_many - *of_few) / static_cast<double>(load.pairs_counted);
}

}  // namespace cxltier::bench
