// SPDX-License-Identifier: Apache-2.0
//
// The thread's start, its loop, and how it is stopped and begun anew around unshare, setns, fork.
#include "runtime/preload/seat.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

#include "cxltier/tier_heap.hpp"
#include "runtime/os/own_thread.h"
#include "runtime/preload/caller.h"
#include "runtime/preload/core_table.h"
#include "runtime/preload/runtime.h"

namespace cxltier {
namespace {

// How long a child must live before it is worth a thread: most exec or exit at once.
constexpr Nanoseconds child_age_min = seconds(2);

// The storage is a plain aggregate over pages that the kernel zeroes when they are first used: most
// of it is never touched, so it is never constructed.
struct Mapping {
  alignas(Runtime) std::array<std::byte, sizeof(Runtime)> runtime;
  ControllerStorage storage;
};
static_assert(std::is_aggregate_v<ControllerStorage>);

// How often a join looks whether the thread was parked meanwhile.
constexpr long join_step_ns = 10'000'000;

// How often at least the thread looks up to see whether the heap has grown.
constexpr Nanoseconds look_up = seconds(1);

// The allocator takes its first eight MiB at once, whatever it needs of them: a heap has grown when
// it took more than that.
std::uint64_t mapped_at_start(const Settings& settings) noexcept {
  return settings.start_heap.count + 1;
}

// How often the thread looks whether nodes with memory have come or gone.
constexpr Nanoseconds machine_look = seconds(5);

// jemalloc's own deadlines are seconds: an idle heap gives pages back only when somebody asks.
constexpr Nanoseconds decay_interval = seconds(1);

}  // namespace

void Seat::arm(const Settings& settings, heap::AttentionHook hook) noexcept {
  settings_ = settings;
  hook_ = hook;
  // Only these can have something to say once the machine is known.
  const bool may_speak =
      settings.log == LogLevel::all || settings.tiers[0] != '\0' || settings.profile[0] != '\0';
  if (may_speak && settings.log != LogLevel::off) standard_error_.remember();
  heap::request_attention(mapped_at_start(settings_), hook_);
}

// A malloc from inside libc or the loader may hold locks that starting a thread takes too, so it
// waits for one from elsewhere.
heap::Attention Seat::on_attention(const void* caller) noexcept {
  if (seated_.load(std::memory_order_acquire)) return heap::Attention::done;
  if (ClockLinux().now() < not_before_ || is_system_code(caller)) return heap::Attention::again;
  const int saved_errno = errno;
  stop_.store(false, std::memory_order_relaxed);
  if (make_runtime()) {
    const Result<pthread_t> thread = start_own_thread(&Seat::thread_main, this);
    thread_ = thread.value_or({});
    seated_.store(thread.ok(), std::memory_order_release);
  }
  errno = saved_errno;
  return heap::Attention::done;
}

bool Seat::make_runtime() noexcept {
  if (runtime_ != nullptr) return true;
  void* memory = mmap(nullptr, sizeof(Mapping), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  madvise(memory, sizeof(Mapping), MADV_DONTFORK);
  madvise(memory, sizeof(Mapping), MADV_NOHUGEPAGE);
  auto* mapping = static_cast<Mapping*>(memory);
  runtime_ = new (mapping->runtime.data())
      Runtime(settings_, {marks_, standard_error_}, getenv("XDG_RUNTIME_DIR"), mapping->storage);
  return true;
}

void* Seat::thread_main(void* argument) noexcept {
  Seat& seat = *static_cast<Seat*>(argument);
  prctl(PR_SET_NAME, "cxltier", 0, 0, 0);
  Runtime& runtime = *seat.runtime_;
  if (!own_descriptor_table().ok()) return nullptr;
  bool ready = runtime.prepare();
  close_standard_error();
  while (!seat.stop_.load(std::memory_order_acquire)) {
    if (ready) {
      seat.serve(runtime);
      if (runtime.controller().state() == RunState::stopped) return nullptr;
    } else {
      if (!runtime.waits_for_memory()) return nullptr;
      seat.wait_until(ClockLinux().now() + machine_look, machine_look);
    }
    if (!seat.stop_.load(std::memory_order_acquire) && runtime.machine_changed())
      ready = runtime.follow_machine();
  }
  return nullptr;
}

// Ticks until it is time to look at the machine, or the thread or the controller is stopped.
void Seat::serve(Runtime& runtime) noexcept {
  Controller& controller = runtime.controller();
  const Nanoseconds end = ClockLinux().now() + machine_look;
  Nanoseconds decay_due{};
  while (!stop_.load(std::memory_order_acquire) && controller.state() != RunState::stopped &&
         ClockLinux().now() < end) {
    if (controller.due()) controller.tick(stop_);
    if (ClockLinux().now() >= decay_due) {
      heap::decay_idle_memory();
      decay_due = ClockLinux().now() + decay_interval;
    }
    wait_until(std::min(controller.due_at(), end), look_up);
  }
}

void Seat::wait_until(Nanoseconds due, Nanoseconds longest) noexcept {
  const Nanoseconds wait = std::min(due - ClockLinux().now(), longest);
  const timespec timeout{.tv_sec = static_cast<time_t>(wait.count / seconds(1).count),
                         .tv_nsec = static_cast<long>(wait.count % seconds(1).count)};
  const std::uint32_t seen = wake_.load(std::memory_order_acquire);
  if (stop_.load(std::memory_order_acquire)) return;
  syscall(SYS_futex, &wake_, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

void Seat::suspend() noexcept {
  if (!seated_.exchange(false, std::memory_order_acq_rel)) return;
  const int saved_errno = errno;
  stop_.store(true, std::memory_order_release);
  wake_.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &wake_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  if (!join()) return;  // parked: it is not coming back, and its memory stays
  published_statistics.forget();
  if (runtime_ != nullptr) {
    runtime_->telemetry().close();
    munmap(runtime_, sizeof(Mapping));
    runtime_ = nullptr;
  }
  errno = saved_errno;
}

bool Seat::join() noexcept {
  for (;;) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += join_step_ns;
    if (until.tv_nsec >= 1'000'000'000) {
      ++until.tv_sec;
      until.tv_nsec -= 1'000'000'000;
    }
    if (pthread_timedjoin_np(thread_, nullptr, &until) != ETIMEDOUT) return true;
    if (parked_.load(std::memory_order_acquire)) return false;
  }
}

void Seat::park() noexcept {
  parked_.store(true, std::memory_order_release);
  for (;;) pause();
}

void Seat::resume() noexcept {
  if (hook_ != nullptr) heap::request_attention(mapped_at_start(settings_), hook_);
}

void Seat::in_child() noexcept {
  marks_.forks.store(false, std::memory_order_relaxed);
  marks_.born_by_fork.store(true, std::memory_order_relaxed);
  runtime_ = nullptr;
  published_statistics.forget();
  seated_.store(false, std::memory_order_relaxed);
  not_before_ = ClockLinux().now() + child_age_min;
  resume();
}

// The thread is not waited for: it may be reading the maps of a large process, and ends with it.
void Seat::leave() noexcept {
  stop_.store(true, std::memory_order_release);
  if (seated_.load(std::memory_order_acquire)) runtime_->telemetry().remove();
}

}  // namespace cxltier
