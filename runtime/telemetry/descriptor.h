// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor with an owner.  It closes with its scope, on the thread that opened it: threads
// may have descriptor tables of their own.
#pragma once

#include <unistd.h>

#include <cerrno>

namespace cxltier {

class Descriptor {
 public:
  // number: an open descriptor, or negative for none
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  // errno stays what it was, so that a failed call can still be reported.
  ~Descriptor() {
    const int kept = errno;
    if (number_ >= 0) ::close(number_);
    errno = kept;
  }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace cxltier
