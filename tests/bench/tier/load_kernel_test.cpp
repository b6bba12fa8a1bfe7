// SPDX-License-Identifier: Apache-2.0
//
// Every kernel that this processor can run does each mix as plain C++ does it.
#include "bench/tier/kernel/load_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace cxltier::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

// Words that are all different, so that a skipped or doubled line shows.
class Lines {
 public:
  Lines() : memory_(static_cast<std::byte*>(std::aligned_alloc(64, buffer_bytes)), &std::free) {
    std::uint64_t word = 0x1234567;
    for (std::size_t at = 0; at < buffer_bytes; at += 8) {
      word = word * 6364136223846793005u + 1442695040888963407u;
      std::memcpy(memory_.get() + at, &word, 8);
    }
  }
  std::byte* bytes() { return memory_.get(); }
  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(memory_.get()), buffer_bytes};
  }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

std::uint64_t run_mix(const LoadKernel& kernel, const Mix& mix, Lines& lines) {
  const std::uint64_t groups = groups_in(mix, buffer_bytes);
  const LoadPass pass{lines.bytes(), groups, 0, groups, 0};
  return kernel.function(mix)(pass);
}

// Which lines a mix changed, by comparing with untouched memory.
std::vector<bool> written_lines(const Lines& after) {
  const std::string before = Lines().text();
  const std::string now = after.text();
  std::vector<bool> written;
  for (std::size_t at = 0; at < buffer_bytes; at += line_bytes) {
    written.push_back(before.compare(at, line_bytes, now, at, line_bytes) != 0);
  }
  return written;
}

TEST(LoadKernel, EachHasAllMixes) {
  for (const LoadKernel& kernel : runnable_kernels()) {
    for (const Mix& mix : all_mixes()) {
      EXPECT_NE(kernel.function(mix), nullptr) << kernel.name << " " << mix.name;
    }
  }
}

TEST(LoadKernel, EachWritesTheLinesThatPlainCodeWrites) {
  for (const Mix& mix : all_mixes()) {
    Lines plain;
    run_mix(load_kernel_scalar, mix, plain);
    const std::vector<bool> expected = written_lines(plain);
    for (const LoadKernel& kernel : runnable_kernels()) {
      Lines lines;
      run_mix(kernel, mix, lines);
      EXPECT_EQ(written_lines(lines), expected) << kernel.name << " " << mix.name;
    }
  }
}

TEST(LoadKernel, TheShareOfWrittenLinesIsThatOfTheMix) {
  for (const Mix& mix : all_mixes()) {
    Lines lines;
    run_mix(load_kernel_scalar, mix, lines);
    const std::vector<bool> written = written_lines(lines);
    const auto count = std::count(written.begin(), written.end(), true);
    const std::uint64_t groups = groups_in(mix, buffer_bytes);
    EXPECT_EQ(static_cast<std::uint64_t>(count), groups * mix.stores) << mix.name;
  }
}

// A reader that left a line out would give the same digest after that line changed.
TEST(LoadKernel, EveryLineIsRead) {
  const Mix read = *find_mix("R");
  for (const LoadKernel& kernel : runnable_kernels()) {
    Lines lines;
    const std::uint64_t before = run_mix(kernel, read, lines);
    for (std::size_t at = 0; at < buffer_bytes; at += line_bytes) {
      lines.bytes()[at] ^= std::byte{0x40};
      EXPECT_NE(run_mix(kernel, read, lines), before) << kernel.name << " line " << at / line_bytes;
      lines.bytes()[at] ^= std::byte{0x40};
    }
  }
}

TEST(LoadKernel, ADelayChangesNothingButTime) {
  const Mix mix = *find_mix("2:1");
  for (const LoadKernel& kernel : runnable_kernels()) {
    Lines quick;
    Lines slow;
    const std::uint64_t digest = run_mix(kernel, mix, quick);
    const std::uint64_t groups = groups_in(mix, buffer_bytes);
    const LoadPass pass{slow.bytes(), groups, 0, groups, 20};
    EXPECT_EQ(kernel.function(mix)(pass), digest);
    EXPECT_EQ(slow.text(), quick.text());
  }
}

TEST(Mix, BytesAreCountedWithAndWithoutReadForOwnership) {
  struct Case {
    const char* mix;
    double application;  // lines per group
    double traffic;
  };
  for (const Case& c :
       {Case{"R", 1, 1}, Case{"1:1", 1, 2}, Case{"2:1", 2, 3}, Case{"3:1", 3, 4}, Case{"3:2", 3, 5},
        Case{"4:1", 4, 5}, Case{"W-nt", 1, 1}, Case{"1:1nt", 2, 2}, Case{"2:1nt", 3, 3},
        Case{"triad", 3, 4}, Case{"triad-nt", 3, 3}, Case{"9:1", 9, 10}}) {
    const LoadBytes bytes = bytes_of_groups(*find_mix(c.mix), 10);
    EXPECT_EQ(bytes.application, 640 * c.application) << c.mix;
    EXPECT_EQ(bytes.traffic, 640 * c.traffic) << c.mix;
  }
}

TEST(Mix, TheNameIsTheRatioOfTraffic) {
  for (const Mix& mix : all_mixes()) {
    const std::size_t colon = mix.name.find(':');
    if (colon == std::string_view::npos) continue;
    EXPECT_EQ(mix.traffic_reads() * static_cast<unsigned>(mix.name[colon + 1] - '0'),
              mix.stores * static_cast<unsigned>(mix.name[0] - '0'))
        << mix.name;
  }
}

TEST(Mix, TheCheckersNumbersAreUnique) {
  std::vector<bool> seen(20);
  for (const Mix& mix : all_mixes()) {
    EXPECT_FALSE(seen.at(static_cast<std::size_t>(mix.mlc_w))) << mix.name;
    seen.at(static_cast<std::size_t>(mix.mlc_w)) = true;
  }
}

}  // namespace
}  // namespace cxltier::bench
