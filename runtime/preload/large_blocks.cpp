// SPDX-License-Identifier: Apache-2.0
//
// From two environment variables to the heap.
#include "runtime/preload/large_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "cxltier/tier_heap.hpp"
#include "runtime/settings/fixed_text.h"
#include "runtime/settings/tier_ratio.h"

namespace cxltier {
namespace {

// Above what threads cache (256 KiB), so that no block of a class would have come from a cache.
constexpr std::size_t large_from = std::size_t{512} << 10;

constinit TierRatio ratio{};
constinit std::atomic<bool> wanted{false};

using Parse = SettingsError (*)(std::string_view, TierRatio&) noexcept;

void read_one(const char* name, Parse parse, LogLevel log) noexcept {
  const char* const value = getenv(name);
  if (wanted.load() || value == nullptr || *value == '\0') return;
  const SettingsError error = parse(value, ratio);
  wanted.store(error.ok());
  if (error.ok() || log == LogLevel::off) return;
  std::array<char, 400> line{};
  FixedText text(line);
  text << "cxltier: " << name << "=";
  text.append_foreign(value) << ": " << error.problem << " '";
  text.append_foreign(error.word) << "'; " << error.expected << "; using no ratio\n";
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.view().data(), text.view().size());
}

}  // namespace

void read_large_blocks(LogLevel log) noexcept {
  read_one("CXLTIER_RATIO", parse_ratio, log);
  read_one("MEMKIND_MEM_TIERS", parse_memkind_tiers, log);
}

void place_large_blocks_if_wanted() noexcept {
  if (!wanted.exchange(false)) return;
  const int saved_errno = errno;
  heap::place_large_blocks(
      {.bytes_min = large_from, .weights = ratio.weights, .slowest_weight = ratio.slowest});
  errno = saved_errno;
}

}  // namespace cxltier
