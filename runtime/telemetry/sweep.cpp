// SPDX-License-Identifier: Apache-2.0
//
// Reads a folder without opendir, which would allocate, and judges each page by its header.
#include "runtime/telemetry/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/telemetry/descriptor.h"
#include "runtime/telemetry/page.h"

namespace cxltier {
namespace {

// Bounds the start-up of a process in a folder that somebody has filled; the rest waits for the
// next process.
constexpr std::size_t examined_max = 256;

std::optional<std::uint32_t> pid_of_name(std::string_view name) noexcept {
  std::uint32_t pid = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, pid);
  if (error != std::errc{} || stop != end || pid == 0) return std::nullopt;
  return pid;
}

// A file without a header, this old, was left by a process that was killed while it made it.
constexpr time_t unwritten_age_min_s = 60;

// What a file of the folder is: somebody's page, the beginning of one, or none of our business.
struct Found {
  enum class Kind : std::uint8_t { foreign, unwritten, page };
  Kind kind = Kind::foreign;
  time_t age_s = 0;
  TelemetryPage page;
};

Found examine(int folder, const char* name) noexcept {
  Found found;
  const Descriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return found;
  }
  found.age_s = ::time(nullptr) - about.st_mtime;
  const ssize_t size = ::pread(file.number(), &found.page, sizeof found.page, 0);
  if (size >= 0 && found.page.header.magic == TelemetryHeader{}.magic) {
    found.kind = Found::Kind::unwritten;
  }
  if (size >= static_cast<ssize_t>(telemetry_size_min) &&
      found.page.header.magic == telemetry_magic) {
    found.kind = Found::Kind::page;
  }
  return found;
}

bool process_is_gone(std::uint32_t pid, std::uint64_t start_time_ticks) noexcept {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const Result<std::uint64_t> start = start_time_of(pid);
  return start.ok() && start.value() != start_time_ticks;
}

bool is_stale(std::uint32_t pid, const Found& found, const ProcessIdentity& self) noexcept {
  if (found.kind == Found::Kind::unwritten && found.age_s >= unwritten_age_min_s) return true;
  if (found.kind != Found::Kind::page) return pid == self.pid;  // killed while it made its page
  const TelemetryHeader& header = found.page.header;
  if (header.boot_id != self.boot_id) return true;
  if (header.pid_namespace != self.pid_namespace) return false;
  return pid == self.pid || process_is_gone(pid, header.start_time_ticks);
}

}  // namespace

std::size_t sweep_stale_pages(int folder, const ProcessIdentity& self) noexcept {
  alignas(dirent64) std::array<char, 4096> entries{};
  std::size_t removed = 0;
  std::size_t examined = 0;
  ssize_t filled = 0;
  while (examined < examined_max &&
         (filled = ::getdents64(folder, entries.data(), entries.size())) > 0) {
    for (ssize_t at = 0; at < filled && examined < examined_max; ++examined) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::optional<std::uint32_t> pid = pid_of_name(entry->d_name);
      if (!pid || !is_stale(*pid, examine(folder, entry->d_name), self)) continue;
      if (::unlinkat(folder, entry->d_name, 0) == 0) ++removed;
    }
  }
  return removed;
}

}  // namespace cxltier
