// SPDX-License-Identifier: Apache-2.0
//
// Who the process is (its /proc folder tells), then one place after the other until a page of this
// very process turns up.
#include "runtime/telemetry/page_search.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/descriptor.h"
#include "runtime/telemetry/folder.h"
#include "runtime/telemetry/process_identity.h"

namespace cxltier {
namespace {

struct Target {
  std::uint32_t pid = 0;        // of the process, here
  std::uint32_t uid = 0;        // effective, here
  std::uint32_t inner_pid = 0;  // in its own namespaces
  std::uint32_t inner_uid = 0;
  std::uint64_t start_time_ticks = 0;
  BootId boot_id{};
  std::uint64_t exec_mark = 0;  // 0: unknown
};

// Cuts the next number out of `rest`, over blanks and tabs; empty at the end of a line.
std::optional<std::uint32_t> take_number(std::string_view& rest) noexcept {
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{}) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

struct Span {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t last = 0;
};

// The numbers of a line of /proc/PID/status such as "\nUid:\t1\t2\t3\t4".
std::optional<Span> numbers_after(std::string_view status, std::string_view label) noexcept {
  const std::size_t at = status.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = status;
  rest.remove_prefix(at + label.size());
  Span numbers;
  int count = 0;
  for (auto number = take_number(rest); number; number = take_number(rest), ++count) {
    if (count == 0) numbers.first = *number;
    if (count == 1) numbers.second = *number;
    numbers.last = *number;
  }
  return count > 0 ? std::optional(numbers) : std::nullopt;
}

Result<std::string_view> read_of(std::uint32_t pid, const char* file,
                                 std::span<char> out) noexcept {
  std::array<char, 48> path{};
  return read_proc_file((FixedText(path) << "/proc/" << pid << "/" << file).c_str(), out);
}

// What a uid of here is called inside the process's user namespace; the same if that is unknown.
std::uint32_t inner_uid_of(std::uint32_t pid, std::uint32_t uid) noexcept {
  std::array<char, 1024> text{};
  std::string_view map = read_of(pid, "uid_map", text).value_or({});
  while (!map.empty()) {
    const auto inside = take_number(map);
    const auto outside = take_number(map);
    const auto length = take_number(map);
    if (!inside || !outside || !length) break;
    if (uid >= *outside && uid - *outside < *length) return *inside + (uid - *outside);
    if (!map.empty()) map.remove_prefix(1);  // the newline
  }
  return uid;
}

PageFailure identify(std::uint32_t pid, Target& target) noexcept {
  std::array<char, 4096> text{};
  const Result<std::string_view> status = read_of(pid, "status", text);
  const bool lives = ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  if (!status.ok()) return lives ? PageFailure::forbidden : PageFailure::no_process;
  const auto uids = numbers_after(status.value(), "\nUid:");
  const auto process = numbers_after(status.value(), "\nTgid:");
  if (!uids || !process) return PageFailure::no_process;
  const auto inner = numbers_after(status.value(), "\nNStgid:");
  target.pid = process->first;
  target.uid = uids->second;
  target.inner_pid = inner ? inner->last : target.pid;
  target.inner_uid = inner_uid_of(target.pid, target.uid);
  const Result<std::uint64_t> start = start_time_of(target.pid);
  const Result<BootId> boot = boot_id_now();
  if (!start.ok() || !boot.ok()) return PageFailure::no_process;
  target.start_time_ticks = start.value();
  target.boot_id = boot.value();
  target.exec_mark = exec_mark_of(target.pid).value_or(0);
  return PageFailure::none;
}

PageFailure more_telling(PageFailure a, PageFailure b) noexcept {
  constexpr std::array order{PageFailure::damaged, PageFailure::stale, PageFailure::busy,
                             PageFailure::untrusted, PageFailure::forbidden};
  for (const PageFailure failure : order) {
    if (a == failure || b == failure) return failure;
  }
  return PageFailure::absent;
}

// One search: the target, and the most telling failure so far.
class Search {
 public:
  Search(const Target& target, TelemetryPage& page) noexcept : target_(target), page_(page) {}

  // Each returns whether the page was found.
  bool look_in(const FolderPlace& place, std::uint32_t pid) noexcept {
    const Result<int> folder = open_telemetry_folder(place, FolderUse::find);
    if (!folder.ok()) return note(failure_of(folder.error()));
    return look_in_folder(folder.value(), {-1, pid, place.uid});
  }
  bool look_inside_container(std::string_view folder, const PageFile& file) noexcept;
  [[nodiscard]] PageFailure failure() const noexcept { return failure_; }

 private:
  static PageFailure failure_of(int error) noexcept {
    if (error == EPERM || error == ELOOP || error == ENOTDIR) return PageFailure::untrusted;
    return error == EACCES ? PageFailure::forbidden : PageFailure::absent;
  }
  bool note(PageFailure failure) noexcept {
    if (failure == PageFailure::none) return true;
    failure_ = more_telling(failure_, failure);
    return false;
  }
  bool look_in_folder(int number, PageFile file) noexcept;

  const Target& target_;
  TelemetryPage& page_;
  PageFailure failure_ = PageFailure::absent;
};

bool Search::look_in_folder(int number, PageFile file) noexcept {
  const Descriptor folder(number);
  file.folder = folder.number();
  const PageFailure failure = read_telemetry_page(file, page_);
  if (failure != PageFailure::none) return note(failure);
  const bool same_process = page_.header.pid == file.pid &&
                            page_.header.start_time_ticks == target_.start_time_ticks &&
                            page_.header.boot_id == target_.boot_id;
  const bool same_program =
      page_.exec_mark == 0 || target_.exec_mark == 0 || page_.exec_mark == target_.exec_mark;
  return note(same_process && same_program ? PageFailure::none : PageFailure::stale);
}

// Walks `folder` ("dev/shm/cxltier-0") below the root folder that the process sees.
bool Search::look_inside_container(std::string_view folder, const PageFile& file) noexcept {
  std::array<char, 48> root{};
  FixedText(root) << "/proc/" << target_.pid << "/root";
  int at = ::open(root.data(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (at >= 0 && !folder.empty()) {
    const std::size_t length = std::min(folder.find('/'), folder.size());
    std::array<char, 48> name{};
    FixedText(name) << std::string_view(folder.data(), length);
    folder.remove_prefix(std::min(length + 1, folder.size()));
    const Descriptor parent(at);
    if (folder.empty()) {
      const Result<int> last = open_checked_folder(parent.number(), name.data(), target_.uid);
      return last.ok() ? look_in_folder(last.value(), file) : note(failure_of(last.error()));
    }
    at = ::openat(parent.number(), name.data(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  return note(failure_of(errno));
}

bool look_at_home(Search& search, const SearchPlace& place, const Target& target,
                  std::uint32_t uid) noexcept {
  std::array<char, 64> session{};
  FixedText(session) << place.user_folder << "/" << uid;
  return search.look_in({place.runtime_folder, nullptr, uid}, target.pid) ||
         search.look_in({session.data(), nullptr, uid}, target.pid) ||
         search.look_in({nullptr, place.memory_folder, uid}, target.pid);
}

bool look_in_container(Search& search, const Target& target) noexcept {
  std::array<char, 48> service{};
  std::array<char, 48> session{};
  FixedText(service) << "dev/shm/cxltier-" << target.inner_uid;
  FixedText(session) << "run/user/" << target.inner_uid << "/cxltier";
  const PageFile file{-1, target.inner_pid, target.uid};
  return search.look_inside_container(service.data(), file) ||
         search.look_inside_container(session.data(), file);
}

}  // namespace

PageFailure find_telemetry_page(std::uint32_t pid, const SearchPlace& place,
                                TelemetryPage& page) noexcept {
  Target target;
  const PageFailure unknown = identify(pid, target);
  if (unknown != PageFailure::none) return unknown;
  Search search(target, page);
  const bool found = look_at_home(search, place, target, target.uid) ||
                     look_at_home(search, place, target, ::geteuid()) ||
                     look_in_container(search, target);
  return found ? PageFailure::none : search.failure();
}

}  // namespace cxltier
