// SPDX-License-Identifier: Apache-2.0
//
// What happens when somebody ends the program: one line, and no file that is half of one.
#pragma once

#include <csignal>

namespace cxltier::bench {

// From now on SIGINT, SIGTERM and SIGHUP say so before they end the program as they always do, so
// that a caller sees the signal.  One that is ignored stays ignored, as under nohup.
void announce_interrupts() noexcept;

// While one lives, these signals wait: for writing a file, not for anything that may take long.
// For the one thread that is left when results are written.
class InterruptsHeld {
 public:
  InterruptsHeld() noexcept;
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace cxltier::bench
