// SPDX-License-Identifier: Apache-2.0
//
// The controller's seat inside a preloaded process: when its thread starts, how it ends.
//
//             heap >= CXLTIER_START            thread ends by itself
//   asleep --------------------------> seated ----------------------> idle (telemetry says why)
//     ^  ^    on a malloc of the          |
//     |  |    application, outside        |  unshare(), setns(): some fail in a process that has
//     |  |    libc and the loader         |  a second thread
//     |  +--------------------------------+
//     |
//     +--- in the child of a fork, not before it is two seconds old
//
// Where there is nothing to do for want of a second tier, but memory may still appear, the thread
// stays and looks every five seconds; and while it is seated it follows nodes that come or go.
//
// A program with a small heap never gets a thread, and neither does a child that soon execs or
// exits.
//
// Everything that the thread works on lies in one private mapping that no fork child inherits, so a
// child finds itself without it and starts anew.  The seat itself is one object with static
// storage, made before any constructor runs; only start.cpp touches it.
#pragma once

#include <pthread.h>

#include <atomic>

#include "cxltier/heap.hpp"
#include "runtime/os/process_state_linux.h"
#include "runtime/os/standard_error.h"
#include "runtime/settings/settings.h"

namespace cxltier {

class Runtime;

class Seat {
 public:
  constexpr Seat() noexcept = default;

  // From the library's constructor: takes the settings and waits for the heap to grow.
  void arm(const Settings& settings, heap::AttentionHook hook) noexcept;

  // From the allocator, on an application's thread, once the heap is large enough.  `caller` is the
  // code that called malloc.
  heap::Attention on_attention(const void* caller) noexcept;

  // Ends the thread if there is one; returns when it is gone.  The next malloc starts it again
  // after resume().
  void suspend() noexcept;
  void resume() noexcept;

  // On the controller's thread, when a contract is broken: it stops for good, holding nothing.
  [[noreturn]] void park() noexcept;

  // Fork handlers.
  void in_parent() noexcept { marks_.forks.store(true, std::memory_order_relaxed); }
  void in_child() noexcept;

  // At exit: takes the telemetry file away.
  void leave() noexcept;

 private:
  static void* thread_main(void* seat) noexcept;
  bool make_runtime() noexcept;
  bool join() noexcept;
  void serve(Runtime& runtime) noexcept;
  void wait_until(Nanoseconds due, Nanoseconds longest) noexcept;

  Settings settings_{};
  heap::AttentionHook hook_ = nullptr;
  Runtime* runtime_ = nullptr;  // the private mapping
  pthread_t thread_{};
  std::atomic<bool> seated_{false};  // thread_ is to be joined
  Nanoseconds not_before_{};
  ForkMarks marks_;
  StandardError standard_error_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> parked_{false};
  std::atomic<std::uint32_t> wake_{0};  // futex
};

}  // namespace cxltier
