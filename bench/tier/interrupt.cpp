// SPDX-License-Identifier: Apache-2.0
//
// sigaction(2) and pthread_sigmask(3).
#include "bench/tier/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

namespace cxltier::bench {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};

// Only calls that are safe in a handler (signal-safety(7)).  The handler was taken away when it
// began, so that the same signal, raised again, now ends the program.
void announce(int signal) {
  constexpr std::string_view line =
      "cxltier: bench: interrupted before the end; no file was left half written\n";
  if (::isatty(STDERR_FILENO) == 1 && ::write(STDERR_FILENO, "\n", 1) != 1) ::_exit(1);
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(1);
  ::raise(signal);
}

}  // namespace

void announce_interrupts() noexcept {
  for (const int signal : ending) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = announce;
    action.sa_flags = SA_RESETHAND;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

InterruptsHeld::InterruptsHeld() noexcept {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : ending) ::sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

InterruptsHeld::~InterruptsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace cxltier::bench
