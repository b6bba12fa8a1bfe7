// SPDX-License-Identifier: Apache-2.0
//
// syslog(2), whose text carries a priority in angle brackets at the head of each line.
#include "runtime/cli/kernel_log.h"

#include <sys/klog.h>

#include <algorithm>

namespace cxltier {
namespace {

constexpr int action_read_all = 3;
constexpr int action_size_buffer = 10;

}  // namespace

std::string read_kernel_log() {
  const int size = ::klogctl(action_size_buffer, nullptr, 0);
  if (size <= 0) return {};
  std::string raw(static_cast<std::size_t>(size), '\0');
  const int length = ::klogctl(action_read_all, raw.data(), size);
  if (length <= 0) return {};
  raw.resize(static_cast<std::size_t>(length));
  std::string log;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    const std::size_t close = raw[at] == '<' ? raw.find('>', at) : std::string::npos;
    const std::size_t begin = close != std::string::npos && close < end ? close + 1 : at;
    log.append(raw, begin, end - begin).push_back('\n');
    at = end + 1;
  }
  return log;
}

}  // namespace cxltier
