// SPDX-License-Identifier: Apache-2.0
//
// fstat tells one file from another; the line is built on the stack.
#include "runtime/os/standard_error.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cxltier {

void StandardError::remember() noexcept {
  const int saved_errno = errno;
  struct stat about {};
  if (::fstat(STDERR_FILENO, &about) == 0) {
    device_ = about.st_dev;
    inode_ = about.st_ino;
    state_ = State::remembered;
  }
  errno = saved_errno;
}

void StandardError::write_line(std::string_view text) const noexcept {
  const int saved_errno = errno;
  struct stat about {};
  const bool same = state_ == State::remembered && ::fstat(STDERR_FILENO, &about) == 0 &&
                    about.st_dev == device_ && about.st_ino == inode_;
  if (same) {
    constexpr std::string_view prefix = "cxltier: ";
    std::array<char, 400> line{};
    char* end = std::copy(prefix.begin(), prefix.end(), line.begin());
    const std::size_t room = line.size() - prefix.size() - 1;
    end = std::copy_n(text.begin(), std::min(text.size(), room), end);
    *end++ = '\n';
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(end - line.data()));
  }
  errno = saved_errno;
}

}  // namespace cxltier
