// SPDX-License-Identifier: Apache-2.0
//
// The parsers on their seeds and on damaged ones, with whatever compiler the tests are built by.
//
// Coverage does not guide it as libFuzzer would be, but it runs in every run of the tests: seconds
// per parser are in CXLTIER_FUZZ_SECONDS, else a fixed number of inputs.  Input number k of a
// parser is the same everywhere.  What a parser dies of lies in "finding-NAME" in the working
// folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/parsers.h"
#include "tests/fuzz/seeds.h"

namespace cxltier::fuzz {
namespace {

constexpr std::uint32_t random_seed = 20261201;
constexpr std::uint64_t inputs_without_time = 4000;

// For the signal handler.
std::string current_input;
std::string finding_path;

extern "C" void keep_finding(int number) {
  const int file = ::open(finding_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && ::write(file, current_input.data(), current_input.size()) < 0) ::_exit(1);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string input = seeds_[below(seeds_.size())];
    for (std::size_t i = 0, count = 1 + below(8); i < count; ++i) damage(input);
    return input;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  void damage(std::string& input) {
    const std::size_t at = below(input.size() + 1);
    switch (below(7)) {
      case 0:
        input.resize(at);
        return;
      case 1:
        input.erase(at, 1 + below(16));
        return;
      case 2:
        input.insert(at, input.substr(below(input.size()), below(64)));
        return;
      case 3:
        return overwrite(input, at);
      case 4:
        input.insert(at, words[below(words.size())]);
        return;
      case 5:
        return splice(input, at);
      default:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
    }
  }

  // A number of 1, 2, 4 or 8 bytes that sizes and counts fear.
  void overwrite(std::string& input, std::size_t at) {
    constexpr std::array<std::uint64_t, 10> numbers{0,
                                                    1,
                                                    0x7f,
                                                    0xff,
                                                    0x7fff,
                                                    0xffff,
                                                    0x7fffffff,
                                                    0xffffffff,
                                                    ~std::uint64_t{0} >> 1,
                                                    ~std::uint64_t{0}};
    std::uint64_t number = numbers[below(numbers.size())];
    for (std::size_t i = 0, size = std::size_t{1} << below(4); i < size; ++i, number >>= 8) {
      if (at + i < input.size()) input[at + i] = static_cast<char>(number & 0xff);
    }
  }

  void splice(std::string& input, std::size_t at) {
    const std::string& other = seeds_[below(seeds_.size())];
    input.resize(at);
    input += other.substr(std::min(at, other.size()));
  }

  static constexpr std::array<const char*, 12> words{
      "-1", "0x", "99999999999999999999", "[",    "{",       "\"", ",",
      "\n", "-",  "0xffffffffffffffff",   "\xff", "../../.."};

  std::vector<std::string> seeds_;
  std::mt19937 random_{random_seed};
};

std::uint64_t feed_damaged(const Parser& parser, Mutator& mutator) {
  const char* limit = std::getenv("CXLTIER_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(limit == nullptr ? 0 : std::atoi(limit));
  std::uint64_t count = 0;
  while (limit == nullptr ? count < inputs_without_time : std::chrono::steady_clock::now() < end) {
    current_input = mutator.next();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(current_input.data());
    parser.feed({bytes, current_input.size()});
    ++count;
  }
  return count;
}

class Parsers : public testing::TestWithParam<Parser> {};

TEST_P(Parsers, TakeAnyDamage) {
  const Parser parser = GetParam();
  finding_path = "finding-" + std::string(parser.name);
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(number, keep_finding);
  const std::vector<std::string> seeds = seeds_of(parser.name, CXLTIER_FIXTURES);
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) {
    current_input = seed;
    parser.feed({reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size()});
  }

  Mutator mutator(seeds);
  const std::uint64_t count = feed_damaged(parser, mutator);

  EXPECT_GT(count, 0u);
  std::printf("%llu inputs from %zu seeds, random seed %u\n",
              static_cast<unsigned long long>(count), seeds.size(), random_seed);
}

INSTANTIATE_TEST_SUITE_P(Each, Parsers, testing::ValuesIn(parsers().begin(), parsers().end()),
                         [](const testing::TestParamInfo<Parser>& one) {
                           return std::string(one.param.name);
                         });

}  // namespace
}  // namespace cxltier::fuzz
