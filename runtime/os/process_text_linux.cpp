// SPDX-License-Identifier: Apache-2.0
//
// pread(2) on a descriptor that stays open, again after a signal.
#include "runtime/os/process_text_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace cxltier {

Result<Done> ProcessTextLinux::open(const char* path) noexcept {
  close();
  descriptor_ = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor_ == -1) return Error{errno};
  return Done{};
}

Result<std::size_t> ProcessTextLinux::read_at(std::uint64_t offset, std::span<char> out) noexcept {
  for (;;) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return Error{errno};
  }
}

void ProcessTextLinux::close() noexcept {
  if (descriptor_ != -1) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace cxltier
