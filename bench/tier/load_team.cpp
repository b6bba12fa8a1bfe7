// SPDX-License-Identifier: Apache-2.0
//
// The threads' loop, and the hand-over of work to them.
#include "bench/tier/load_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/tier/host/processors.h"
#include "bench/tier/kernel/timer.h"

namespace cxltier::bench {

// Work is a function that the owner hands over and waits for; only loads run without being waited
// for, until `running_` falls.
struct LoadTeam::Thread {
  unsigned cpu = 0;
  std::vector<std::optional<Buffer>> buffers;
  std::atomic<std::uint64_t> groups{0};
  std::uint64_t sink = 0;  // what was read, so that it was read

  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;
  bool quit = false;
  std::thread thread;

  void hand_over(std::function<void()> next) {
    const std::lock_guard lock(mutex);
    work = std::move(next);
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !work; });
  }
};

namespace {

// The caller shares a CPU with a load thread and may be held up between the count and the clock:
// then both are read again.
LoadCount count_of(const std::atomic<std::uint64_t>& groups) {
  constexpr double apart_most_s = 5e-6;
  LoadCount count;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const double before = now_s();
    count.groups = groups.load(std::memory_order_relaxed);
    count.at_s = now_s();
    if (count.at_s - before < apart_most_s) break;
  }
  return count;
}

}  // namespace

LoadTeam::LoadTeam(std::vector<unsigned> cpus, const LoadKernel& kernel) : kernel_(kernel) {
  for (const unsigned cpu : cpus) {
    auto thread = std::make_unique<Thread>();
    thread->cpu = cpu;
    Thread& own = *thread;
    threads_.push_back(std::move(thread));
    try {
      own.thread = std::thread([this, &own] { run(own); });
    } catch (const std::system_error& error) {
      threads_.pop_back();
      dismiss();
      throw std::runtime_error(fmt::format(
          "cannot start {} load threads: {}; ask for fewer with --threads, or raise the limit "
          "(ulimit -u, ulimit -v)",
          cpus.size(), error.code().message()));
    }
  }
}

LoadTeam::~LoadTeam() {
  stop();
  dismiss();
}

void LoadTeam::dismiss() {
  for (const auto& thread : threads_) {
    {
      const std::lock_guard lock(thread->mutex);
      thread->quit = true;
      thread->changed.notify_all();
    }
    thread->thread.join();
  }
}

void LoadTeam::run(Thread& thread) {
  pin_thread(thread.cpu);
  std::unique_lock lock(thread.mutex);
  for (;;) {
    thread.changed.wait(lock, [&] { return thread.work || thread.quit; });
    if (thread.quit) return;
    const std::function<void()> work = thread.work;
    lock.unlock();
    work();
    lock.lock();
    thread.work = nullptr;
    thread.changed.notify_all();
  }
}

std::optional<std::size_t> LoadTeam::prepare(const BufferRequest& request) {
  for (const auto& thread : threads_) {
    thread->buffers.emplace_back();
    thread->hand_over([&request, place = &thread->buffers.back()] {
      int error = 0;
      try {
        *place = Buffer::make(request, error);
      } catch (const std::bad_alloc&) {  // as if the buffer could not be had
        place->reset();
      }
    });
    thread->wait();  // one after the other: each looks at what the node has left
  }
  const std::size_t index = threads_.empty() ? 0 : threads_.front()->buffers.size() - 1;
  const bool all = std::all_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return thread->buffers[index].has_value();
  });
  if (all && !threads_.empty()) return index;
  for (const auto& thread : threads_) thread->buffers[index].reset();
  return std::nullopt;
}

void LoadTeam::drop(std::size_t buffer) {
  for (const auto& thread : threads_) thread->buffers[buffer].reset();
}

// A chunk is short enough that a count is never older than about a tenth of a millisecond of
// loading, and long enough that publishing it costs nothing.
void LoadTeam::do_order(Thread& thread, const LoadOrder& order) {
  const LoadFunction load = kernel_.function(order.mix);
  if (load == nullptr || order.state == LoadOrder::State::idle) return;
  const std::span<std::byte> bytes = thread.buffers[order.buffer]->bytes();
  const std::uint64_t groups = groups_in(order.mix, bytes.size());
  const std::uint64_t chunk = std::max<std::uint64_t>(1024 / (1 + order.delay / 16), 8);
  LoadPass pass{bytes.data(), groups, 0, 0, order.delay};
  std::uint64_t done = 0;
  while (running_.load(std::memory_order_relaxed)) {
    pass.count = std::min(chunk, groups - pass.first);
    thread.sink ^= load(pass);
    done += pass.count;
    thread.groups.store(done, std::memory_order_relaxed);
    pass.first += pass.count;
    if (pass.first >= groups) pass.first = 0;
  }
}

void LoadTeam::start(const std::vector<LoadOrder>& orders) {
  stop();
  orders_ = orders;
  running_.store(true, std::memory_order_relaxed);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    threads_[i]->groups.store(0, std::memory_order_relaxed);
    threads_[i]->hand_over(
        [this, own = threads_[i].get(), order = orders[i]] { do_order(*own, order); });
  }
}

void LoadTeam::stop() {
  running_.store(false, std::memory_order_relaxed);
  for (const auto& thread : threads_) thread->wait();
}

std::vector<LoadCount> LoadTeam::count() const {
  std::vector<LoadCount> counts;
  for (const auto& thread : threads_) counts.push_back(count_of(thread->groups));
  return counts;
}

LoadRate LoadTeam::rate(const std::vector<LoadCount>& from, const std::vector<LoadCount>& to,
                        std::optional<std::size_t> buffer) const {
  LoadRate sum;
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const double seconds = to[i].at_s - from[i].at_s;
    if (seconds <= 0 || (buffer && orders_[i].buffer != *buffer)) continue;
    const LoadBytes bytes = bytes_of_groups(orders_[i].mix, to[i].groups - from[i].groups);
    sum.application_gbps += bytes.application / seconds * 1e-9;
    sum.traffic_gbps += bytes.traffic / seconds * 1e-9;
  }
  return sum;
}

PlacementReport LoadTeam::report(std::size_t buffer) const {
  PlacementReport worst;
  worst.located = true;
  worst.huge_known = true;
  worst.huge_share = 1;
  for (const auto& thread : threads_) {
    if (buffer >= thread->buffers.size() || !thread->buffers[buffer]) continue;
    const PlacementReport own = thread->buffers[buffer]->report();
    worst.located = worst.located && own.located;
    worst.huge_known = worst.huge_known && own.huge_known;
    worst.huge_share = std::min(worst.huge_share, own.huge_share);
    worst.share_as_asked = std::min(worst.share_as_asked, own.share_as_asked);
    worst.pages_checked += own.pages_checked;
    if (own.bind_error != 0) worst.bind_error = own.bind_error;
  }
  return worst;
}

}  // namespace cxltier::bench
