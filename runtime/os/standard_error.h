// SPDX-License-Identifier: Apache-2.0
//
// Lines on the standard error of someone else's program.
//
// A daemon closes its standard error and may then get the number 2 for a file of its own, so a line
// that is written later than at start-up must know that descriptor 2 is still what it was.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace cxltier {

class StandardError {
 public:
  // Before main: remembers what descriptor 2 is.  One system call.
  void remember() noexcept;

  // Writes "cxltier: TEXT\n" in one call, TEXT cut at 380 bytes; nothing where descriptor 2 was
  // not remembered or is another file by now.  errno is kept.
  void write_line(std::string_view text) const noexcept;

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  enum class State : unsigned char { unknown, remembered } state_ = State::unknown;
};

}  // namespace cxltier
