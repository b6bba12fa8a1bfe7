// SPDX-License-Identifier: Apache-2.0
//
// A text that the kernel makes while it is read: /proc/self/smaps, /proc/self/numa_maps.
//
// Such a file is held open: a program that changes its user can no longer open it, but descriptors
// opened before keep working.  Contract of process_text_linux.cpp and of the tests' fake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/os/result.h"

namespace cxltier {

class ProcessText {
 public:
  // Reads on from `offset`; 0 bytes means the end.  Offset 0 makes the text anew.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) noexcept = 0;

 protected:
  ~ProcessText() = default;
};

}  // namespace cxltier
