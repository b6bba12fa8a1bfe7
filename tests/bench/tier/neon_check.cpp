// SPDX-License-Identifier: Apache-2.0
//
// The load generators for NEON against plain C++, mix by mix: the same lines written, the same
// bytes where nothing is loaded, and every line read.  A program without a test library, so that a
// cross compiler can build it for an emulator.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/tier/kernel/load_kernel.h"

namespace {

using cxltier::bench::groups_in;
using cxltier::bench::LoadKernel;
using cxltier::bench::Mix;

constexpr std::size_t buffer_bytes = 64 * 1024;
constexpr std::size_t line_bytes = cxltier::bench::line_bytes;

std::vector<std::byte> filled() {
  std::vector<std::byte> lines(buffer_bytes + line_bytes);
  std::uint64_t word = 0x1234567;
  for (std::size_t at = 0; at + 8 <= lines.size(); at += 8) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(lines.data() + at, &word, 8);
  }
  return lines;
}

std::byte* aligned(std::vector<std::byte>& lines) {
  const auto address = reinterpret_cast<std::uintptr_t>(lines.data());
  return lines.data() + (line_bytes - address % line_bytes) % line_bytes;
}

std::uint64_t run(const LoadKernel& kernel, const Mix& mix, std::byte* buffer) {
  const std::uint64_t groups = groups_in(mix, buffer_bytes);
  return kernel.function(mix)({buffer, groups, 0, groups, 0});
}

// The lines that differ from what was there before.
std::vector<bool> written(const LoadKernel& kernel, const Mix& mix) {
  std::vector<std::byte> lines = filled();
  const std::vector<std::byte> before(aligned(lines), aligned(lines) + buffer_bytes);
  run(kernel, mix, aligned(lines));
  std::vector<bool> changed;
  for (std::size_t at = 0; at < buffer_bytes; at += line_bytes) {
    changed.push_back(std::memcmp(before.data() + at, aligned(lines) + at, line_bytes) != 0);
  }
  return changed;
}

bool reads_every_line(const LoadKernel& kernel) {
  const Mix read = *cxltier::bench::find_mix("R");
  std::vector<std::byte> lines = filled();
  std::byte* const buffer = aligned(lines);
  const std::uint64_t whole = run(kernel, read, buffer);
  for (std::size_t at = 0; at < buffer_bytes; at += line_bytes) {
    buffer[at] ^= std::byte{0x40};
    if (run(kernel, read, buffer) == whole) return false;
    buffer[at] ^= std::byte{0x40};
  }
  return true;
}

}  // namespace

int main() {
  const LoadKernel& widest = cxltier::bench::runnable_kernels().front();
  const LoadKernel* const plain = cxltier::bench::find_kernel("scalar");
  int failed = 0;
  if (widest.name != "neon") {
    std::printf("the widest kernel here is %.*s\n", static_cast<int>(widest.name.size()),
                widest.name.data());
    failed = 1;
  }
  int mixes = 0;
  for (const Mix& mix : cxltier::bench::all_mixes()) {
    ++mixes;
    if (widest.function(mix) != nullptr && written(widest, mix) == written(*plain, mix)) continue;
    std::printf("mix %.*s writes other lines than plain C++\n", static_cast<int>(mix.name.size()),
                mix.name.data());
    failed = 1;
  }
  if (!reads_every_line(widest)) {
    std::printf("a line is not read\n");
    failed = 1;
  }
  std::printf("%d mixes compared\n", mixes);
  return failed;
}
