// SPDX-License-Identifier: Apache-2.0
//
// The system calls behind FileTreeLinux.  Nothing allocates: folders are read by getdents64 into a
// buffer on the stack, since opendir() would use the heap.
#include "runtime/os/file_tree_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace cxltier {
namespace {

// A descriptor for the length of one call; restores errno.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
    errno = errno_saved_;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // Takes the result of an open call: a descriptor, or -1 with errno set.
  void hold(long number) noexcept {
    number_ = static_cast<int>(number);
    error_ = number_ < 0 ? errno : 0;
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int errno_saved_ = errno;
  int number_ = -1;
  int error_ = 0;
};

bool is_this_machine(const char* root) { return std::strcmp(root, "/") == 0; }

long open_inside(int folder, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  const long opened = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return opened;
  return ::openat(folder, path, flags);
}

// On this machine plain openat is enough, and is what system-call filters know.
void open_below(Descriptor& file, const char* root, const char* path, int flags) {
  Descriptor folder;
  folder.hold(::open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.error() != 0) {
    file.hold(-1);
    return;
  }
  const int all_flags = flags | O_CLOEXEC;
  file.hold(is_this_machine(root) ? ::openat(folder.number(), path, all_flags)
                                  : open_inside(folder.number(), path, all_flags));
}

bool is_dot(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

std::size_t visit_entries(std::span<const char> bytes, EntryVisitor& visitor) {
  std::size_t visited = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto* entry = reinterpret_cast<const dirent64*>(bytes.data() + at);
    at += entry->d_reclen;
    if (is_dot(entry->d_name)) continue;
    visitor.visit(entry->d_name);
    ++visited;
  }
  return visited;
}

}  // namespace

// O_NONBLOCK: a snapshot is untrusted, and a FIFO in it must not hang us.
Result<std::size_t> FileTreeLinux::read(const char* path, std::span<char> out) noexcept {
  Descriptor file;
  open_below(file, root_, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (file.error() != 0) return Error{file.error()};
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::read(file.number(), out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{errno};
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<std::size_t> FileTreeLinux::read_link(const char* path, std::span<char> out) noexcept {
  Descriptor link;
  open_below(link, root_, path, O_PATH | O_NOFOLLOW);
  if (link.error() != 0) return Error{link.error()};
  const ssize_t got = ::readlinkat(link.number(), "", out.data(), out.size());
  if (got < 0) return Error{errno == ENOENT ? EINVAL : errno};  // ENOENT here: not a link
  if (static_cast<std::size_t>(got) == out.size()) return Error{ENAMETOOLONG};
  return static_cast<std::size_t>(got);
}

Result<std::size_t> FileTreeLinux::list(const char* path, EntryVisitor& visitor) noexcept {
  Descriptor folder;
  open_below(folder, root_, path, O_RDONLY | O_DIRECTORY);
  if (folder.error() != 0) return Error{folder.error()};
  alignas(dirent64) std::array<char, 2048> entries;
  std::size_t visited = 0;
  for (;;) {
    const ssize_t got = ::getdents64(folder.number(), entries.data(), entries.size());
    if (got < 0) return Error{errno};
    if (got == 0) return visited;
    visited += visit_entries({entries.data(), static_cast<std::size_t>(got)}, visitor);
  }
}

}  // namespace cxltier
