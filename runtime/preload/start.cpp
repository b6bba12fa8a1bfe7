// SPDX-License-Identifier: Apache-2.0
//
// What the preload library does before main, around fork, and at exit.
//
//   constructor   fork handlers in the right order: the allocator's first, then ours; settings from
//                 the environment, a line for each wrong one; then wait for the heap to grow
//   unshare,      the controller's thread is away while they run: a process with a second thread
//   setns         may not enter a user namespace
//   destructor    the telemetry file goes
//
// The heap serves from the loader's first malloc on; none of this is needed for it.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "cxltier/heap.hpp"
#include "policy/check.h"
#include "runtime/preload/children.h"
#include "runtime/preload/heap_tiers.h"
#include "runtime/preload/large_blocks.h"
#include "runtime/preload/seat.h"
#include "runtime/settings/settings.h"

extern char** environ;

namespace cxltier {
namespace {

constinit Seat seat;

heap::Attention attend(const void* caller) noexcept {
  const heap::Attention answer = seat.on_attention(caller);
  if (answer == heap::Attention::done) place_large_blocks_if_wanted();
  return answer;
}

void log_line(const char* text, std::size_t length) noexcept {
  std::array<char, 400> line;
  length = length < line.size() ? length : line.size() - 1;
  memcpy(line.data(), text, length);
  line[length] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), length + 1);
}

void log_wrong_settings(const EnvironmentReport& report) noexcept {
  for (std::size_t i = 0; i < report.wrong_count; ++i) {
    std::array<char, 400> text;
    log_line(text.data(), format_wrong(report.wrong[i], text));
  }
}

// 101 is the first priority that is not reserved for the implementation.
__attribute__((constructor(101))) void start() {
  const int saved_errno = errno;
  heap::initialize();
  Settings settings;
  const EnvironmentReport report = settings_from(environ, settings);
  if (settings.log != LogLevel::off) log_wrong_settings(report);
  pthread_atfork(
      nullptr, [] { seat.in_parent(); }, [] { seat.in_child(); });
  apply_children_choice(environ, settings.log);
  offer_heap_tiers(settings);
  read_large_blocks(settings.log);
  seat.arm(settings, attend);
  errno = saved_errno;
}

__attribute__((destructor(101))) void leave() { seat.leave(); }

}  // namespace

// Only the controller's thread runs checked code; the program runs on without it.
void check_failed(const char*) noexcept { seat.park(); }

}  // namespace cxltier

#define CXLTIER_EXPORT __attribute__((visibility("default")))

extern "C" CXLTIER_EXPORT int unshare(int flags) noexcept {
  cxltier::seat.suspend();
  const long returned = syscall(SYS_unshare, flags);
  const int error = errno;
  cxltier::seat.resume();
  errno = error;
  return static_cast<int>(returned);
}

extern "C" CXLTIER_EXPORT int setns(int descriptor, int kind) noexcept {
  cxltier::seat.suspend();
  const long returned = syscall(SYS_setns, descriptor, kind);
  const int error = errno;
  cxltier::seat.resume();
  errno = error;
  return static_cast<int>(returned);
}
