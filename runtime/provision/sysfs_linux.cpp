// SPDX-License-Identifier: Apache-2.0
//
// One open, one write, one close: the kernel takes a value as one write or not at all.
#include "runtime/provision/sysfs_linux.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace cxltier {
namespace {

constexpr int waits_max = 300;
constexpr timespec pause{0, 100'000'000};

}  // namespace

Result<Done> SysfsLinux::write(const std::string& path, const std::string& value) {
  const int file = ::open(("/" + path).c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return Error{errno};
  const ssize_t written = ::write(file, value.data(), value.size());
  const int error = written < 0 ? errno : 0;
  ::close(file);
  if (error != 0) return Error{error};
  return Done{};
}

bool SysfsLinux::wait() {
  if (++waits_ > waits_max) return false;
  ::nanosleep(&pause, nullptr);
  return true;
}

}  // namespace cxltier
