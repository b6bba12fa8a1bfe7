// SPDX-License-Identifier: Apache-2.0
//
// How the demo fails: one exception that carries the whole text, thrown where the cause is known
// and caught in main(), which prints it and exits 1.  Destructors stop the servers on the way.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace cxltier::demo {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string& text) { throw Failure(text); }

// pre: errno is that of the call that failed
[[noreturn]] inline void fail_errno(const std::string& what) {
  fail(what + ": " + std::strerror(errno));
}

}  // namespace cxltier::demo
