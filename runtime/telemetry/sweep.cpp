// SPDX-License-Identifier: Apache-2.0
//
// Reads a folder without opendir, which would allocate, and judges each page by its header.
#include "runtime/telemetry/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
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

// Reads what there is of a page; empty if it is not a page of ours.
std::optional<TelemetryPage> read_any_page(int folder, const char* name) noexcept {
  const Descriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return std::nullopt;
  }
  TelemetryPage page;
  const ssize_t size = ::pread(file.number(), &page, sizeof page, 0);
  if (size < static_cast<ssize_t>(telemetry_size_min)) return std::nullopt;
  if (page.header.magic != telemetry_magic) return std::nullopt;
  return page;
}

bool process_is_gone(std::uint32_t pid, std::uint64_t start_time_ticks) noexcept {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const Result<std::uint64_t> start = start_time_of(pid);
  return start.ok() && start.value() != start_time_ticks;
}

bool is_stale(std::uint32_t pid, const std::optional<TelemetryPage>& page,
              const ProcessIdentity& self) noexcept {
  if (!page) return pid == self.pid;  // killed while it made its page
  if (page->header.boot_id != self.boot_id) return true;
  if (page->header.pid_namespace != self.pid_namespace) return false;
  return pid == self.pid || process_is_gone(pid, page->header.start_time_ticks);
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
      if (!pid || !is_stale(*pid, read_any_page(folder, entry->d_name), self)) continue;
      if (::unlinkat(folder, entry->d_name, 0) == 0) ++removed;
    }
  }
  return removed;
}

}  // namespace cxltier
