// SPDX-License-Identifier: Apache-2.0
//
// Reads /proc for process_identity.h.
#include "runtime/telemetry/process_identity.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/descriptor.h"

namespace cxltier {
namespace {

constexpr std::size_t stat_text_max = 2048;  // 52 numbers of at most 20 digits and a name

Result<std::uint64_t> read_start_time(const char* path) noexcept {
  std::array<char, stat_text_max> text{};
  const Result<std::string_view> stat = read_proc_file(path, text);
  if (!stat.ok()) return Error{stat.error()};
  const std::optional<std::uint64_t> ticks = parse_start_time(stat.value());
  if (!ticks) return Error{EBADMSG};
  return *ticks;
}

std::uint64_t pid_namespace_of_self() noexcept {
  struct stat about {};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

}  // namespace

Result<std::string_view> read_proc_file(const char* path, std::span<char> out) noexcept {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) return Error{errno};
  ssize_t size = 0;
  do {
    size = ::read(file.number(), out.data(), out.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Error{errno};
  return std::string_view(out.data(), static_cast<std::size_t>(size));
}

std::optional<std::uint64_t> parse_start_time(std::string_view stat) noexcept {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 1);
  for (int field = 2; field < 22; ++field) {  // each step stands before the next field
    const std::size_t blank = stat.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(blank + 1);
  }
  std::uint64_t ticks = 0;
  const char* const end = stat.data() + stat.size();
  const auto [stop, error] = std::from_chars(stat.data(), end, ticks);
  if (error != std::errc{} || (stop != end && *stop != ' ')) return std::nullopt;
  return ticks;
}

Result<std::uint64_t> start_time_of(std::uint32_t pid) noexcept {
  std::array<char, 32> path{};
  return read_start_time((FixedText(path) << "/proc/" << pid << "/stat").c_str());
}

Result<BootId> boot_id_now() noexcept {
  BootId id{};
  const auto room = std::span<char>(id).first(id.size() - 1);
  const Result<std::string_view> text = read_proc_file("/proc/sys/kernel/random/boot_id", room);
  if (!text.ok()) return Error{text.error()};
  std::replace(id.begin(), id.end(), '\n', '\0');
  return id;
}

Result<std::uint64_t> exec_mark_of(std::uint32_t pid) noexcept {
  std::array<char, 32> path{};
  std::array<char, 2048> text{};  // 20 to 30 entries of 16 bytes
  FixedText(path) << "/proc/" << pid << "/auxv";
  const Result<std::string_view> entries = read_proc_file(path.data(), text);
  if (!entries.ok()) return Error{entries.error()};
  Elf64_auxv_t entry{};
  for (std::string_view rest = entries.value(); rest.size() >= sizeof entry;
       rest.remove_prefix(sizeof entry)) {
    std::memcpy(&entry, rest.data(), sizeof entry);
    if (entry.a_type == AT_RANDOM) return std::uint64_t{entry.a_un.a_val};
  }
  return Error{EBADMSG};
}

Result<ProcessIdentity> identity_of_self() noexcept {
  ProcessIdentity self;
  self.pid = static_cast<std::uint32_t>(::getpid());
  self.uid = ::geteuid();
  const Result<std::uint64_t> start = read_start_time("/proc/self/stat");
  if (!start.ok()) return Error{start.error()};
  self.start_time_ticks = start.value();
  const Result<BootId> boot = boot_id_now();
  if (!boot.ok()) return Error{boot.error()};
  self.boot_id = boot.value();
  self.pid_namespace = pid_namespace_of_self();
  self.exec_mark = ::getauxval(AT_RANDOM);
  return self;
}

}  // namespace cxltier
