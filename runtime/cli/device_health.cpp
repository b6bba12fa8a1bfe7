// SPDX-License-Identifier: Apache-2.0
//
// One ioctl of the kernel's CXL driver (Linux 5.12, include/uapi/linux/cxl_mem.h), the same that
// libcxl sends.
#include "runtime/cli/device_health.h"

#include <fcntl.h>
#include <linux/cxl_mem.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/topology/platform/health_reply.h"

namespace cxltier {
namespace {

std::optional<CxlHealth> ask_for_health(int device) {
  std::array<std::uint8_t, health_reply_bytes> answer{};
  cxl_send_command command{};
  command.id = CXL_MEM_COMMAND_ID_GET_HEALTH_INFO;
  command.out.size = static_cast<std::uint32_t>(answer.size());
  command.out.payload = reinterpret_cast<std::uintptr_t>(answer.data());
  const bool sent = ::ioctl(device, CXL_MEM_SEND_COMMAND, &command) == 0;
  if (!sent || command.retval != 0 || command.out.size > answer.size()) return std::nullopt;
  return parse_health_reply(std::span(answer).first(command.out.size));
}

}  // namespace

void add_device_health(Platform& platform) {
  for (CxlMemdev& memory : platform.cxl.memories) {
    if (memory.health) continue;
    const std::string path = "dev/cxl/" + memory.name;
    const int device = ::open(("/" + path).c_str(), O_RDWR | O_CLOEXEC);
    if (device < 0) {
      if (errno == EACCES) platform.closed.insert(path);
      continue;
    }
    memory.health = ask_for_health(device);
    ::close(device);
  }
}

}  // namespace cxltier
