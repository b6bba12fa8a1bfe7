// SPDX-License-Identifier: Apache-2.0
//
// The other half of the sequence lock in writer.cpp, and the clean-up of what was read.
#include "runtime/telemetry/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "policy/check.h"
#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/descriptor.h"

namespace cxltier {
namespace {

constexpr int attempts_max = 100;
constexpr long attempt_pause_ns = 1'000'000;  // an update takes microseconds
constexpr std::uint64_t page_size_default = 4096;
constexpr std::uint64_t page_size_max = 1u << 20;

PageFailure failure_of(int error) noexcept {
  if (error == ENOENT || error == ENOTDIR) return PageFailure::absent;
  return error == EACCES || error == EPERM ? PageFailure::forbidden : PageFailure::damaged;
}

// A regular file of the right owner; never waits on what somebody put there instead (a pipe).
PageFailure check_file(int file, std::uint32_t uid) noexcept {
  struct stat about {};
  if (::fstat(file, &about) != 0) return failure_of(errno);
  if (!S_ISREG(about.st_mode)) return PageFailure::damaged;
  return about.st_uid == uid ? PageFailure::none : PageFailure::forbidden;
}

PageFailure check_header(const TelemetryHeader& header, std::uint64_t bytes_read) noexcept {
  const TelemetryHeader unwritten{};
  if (header.magic == unwritten.magic) return PageFailure::busy;
  const bool fits = header.size >= telemetry_size_min &&
                    bytes_read >= std::min<std::uint64_t>(header.size, sizeof(TelemetryPage));
  if (header.magic != telemetry_magic || header.version == 0 || !fits) return PageFailure::damaged;
  return PageFailure::none;
}

bool read_generation(int file, std::uint32_t& generation) noexcept {
  return ::pread(file, &generation, sizeof generation, offsetof(TelemetryPage, generation)) ==
         static_cast<ssize_t>(sizeof generation);
}

// One attempt.  The counter is read in calls of its own, before and after: inside one pread the
// order in which bytes are copied is not promised.
PageFailure read_once(int file, TelemetryPage& page) noexcept {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  page = {};
  if (!read_generation(file, before)) return PageFailure::damaged;
  const ssize_t size = ::pread(file, &page, sizeof page, 0);
  if (size < static_cast<ssize_t>(telemetry_size_min)) return PageFailure::damaged;
  if (!read_generation(file, after)) return PageFailure::damaged;
  const PageFailure header = check_header(page.header, static_cast<std::uint64_t>(size));
  if (header != PageFailure::none) return header;
  if (before % 2 != 0 || before != after) return PageFailure::busy;
  const std::size_t known = std::min<std::size_t>(page.header.size, sizeof page);
  std::memset(reinterpret_cast<char*>(&page) + known, 0, sizeof page - known);
  return PageFailure::none;
}

bool is_printable_char(char c) noexcept { return c >= ' ' && c <= '~'; }

void clean_text(std::span<char> text) noexcept {
  text.back() = '\0';
  const auto end = std::find(text.begin(), text.end(), '\0');
  std::replace_if(
      text.begin(), end, [](char c) { return !is_printable_char(c); }, '?');
}

bool is_clean_text(std::span<const char> text) noexcept {
  const auto end = std::find(text.begin(), text.end(), '\0');
  return end != text.end() && std::all_of(text.begin(), end, is_printable_char);
}

bool is_page_size(std::uint64_t size) noexcept {
  return size >= page_size_default && size <= page_size_max && (size & (size - 1)) == 0;
}

void clean(TelemetryPage& page) noexcept {
  clean_text(page.header.boot_id);
  clean_text(page.policy);
  clean_text(page.reason);
  page.node_count = std::min<std::uint32_t>(page.node_count, nodes_max);
  page.tier_count = std::min<std::uint32_t>(page.tier_count, tiers_max);
  if (!is_page_size(page.page_size)) page.page_size = page_size_default;
  for (TelemetryNode& node : page.nodes) {
    if (node.tier >= tiers_max) node.tier = static_cast<std::uint8_t>(tier_none);
    node.kind = std::min(node.kind, static_cast<std::uint8_t>(NodeKind::unknown));
  }
}

}  // namespace

bool is_printable(const TelemetryPage& page) noexcept {
  const auto is_clean_node = [](const TelemetryNode& node) {
    return (node.tier < tiers_max || node.tier == static_cast<std::uint8_t>(tier_none)) &&
           node.kind <= static_cast<std::uint8_t>(NodeKind::unknown);
  };
  return page.node_count <= nodes_max && page.tier_count <= tiers_max &&
         is_page_size(page.page_size) && is_clean_text(page.header.boot_id) &&
         is_clean_text(page.policy) && is_clean_text(page.reason) &&
         std::all_of(page.nodes.begin(), page.nodes.end(), is_clean_node);
}

PageFailure read_telemetry_page(const PageFile& where, TelemetryPage& page) noexcept {
  std::array<char, 16> name{};
  FixedText(name) << where.pid;
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Descriptor file(::openat(where.folder, name.data(), flags));
  if (!file.is_open()) return failure_of(errno);
  const PageFailure unfit = check_file(file.number(), where.uid);
  if (unfit != PageFailure::none) return unfit;
  PageFailure outcome = read_once(file.number(), page);
  for (int attempt = 1; outcome == PageFailure::busy && attempt < attempts_max; ++attempt) {
    const timespec pause{0, attempt_pause_ns};
    ::nanosleep(&pause, nullptr);
    outcome = read_once(file.number(), page);
  }
  if (outcome != PageFailure::none) return outcome;
  clean(page);
  CXLTIER_CHECK(is_printable(page));
  return PageFailure::none;
}

}  // namespace cxltier
