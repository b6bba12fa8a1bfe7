// SPDX-License-Identifier: Apache-2.0
//
// A file of /proc/self, opened once and held.  Belongs to the controller's thread and its own
// descriptor table.
#pragma once

#include <cstddef>

#include "runtime/os/process_text.h"

namespace cxltier {

class ProcessTextLinux final : public ProcessText {
 public:
  ProcessTextLinux() noexcept = default;
  ~ProcessTextLinux() { close(); }
  ProcessTextLinux(const ProcessTextLinux&) = delete;
  ProcessTextLinux& operator=(const ProcessTextLinux&) = delete;

  // errors: of open(2), EACCES where the program has changed its user
  Result<Done> open(const char* path) noexcept;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) noexcept override;

 private:
  void close() noexcept;

  int descriptor_ = -1;
};

}  // namespace cxltier
