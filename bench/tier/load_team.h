// SPDX-License-Identifier: Apache-2.0
//
// Threads that load memory while somebody measures.
//
//   prepare   each thread makes its own buffers, bound to the asked node and touched by itself
//   start     all run their mix until stop; each publishes how far it is after every chunk
//   count     groups done and when, read while they run
//   stop      all are at rest again
//
// One thread per core, pinned.  All calls from one thread, the owner's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/tier/host/buffer.h"
#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/mix.h"

namespace cxltier::bench {

// What one thread does.
struct LoadOrder {
  std::size_t buffer = 0;  // which of the prepared ones
  Mix mix{};
  std::uint32_t delay = 0;
  enum class State : std::uint8_t { idle, running } state = State::running;
};

struct LoadCount {
  double at_s = 0;
  std::uint64_t groups = 0;
};

// Application and traffic bandwidth between two counts of all threads.
struct LoadRate {
  double application_gbps = 0;
  double traffic_gbps = 0;
};

class LoadTeam {
 public:
  // Throws std::runtime_error with a whole sentence if the threads cannot be started.
  LoadTeam(std::vector<unsigned> cpus, const LoadKernel& kernel);
  ~LoadTeam();
  LoadTeam(const LoadTeam&) = delete;
  LoadTeam& operator=(const LoadTeam&) = delete;

  // Gives every thread one more buffer, and returns its index, or nothing if one could not be had;
  // then the index is used up and must not be ordered.
  std::optional<std::size_t> prepare(const BufferRequest& request);
  // Frees every thread's buffer of an index, which must not be ordered any more.
  void drop(std::size_t buffer);

  // pre: one order per thread
  void start(const std::vector<LoadOrder>& orders);
  void stop();
  [[nodiscard]] std::vector<LoadCount> count() const;
  // Of all threads, or of those whose order uses `buffer`.
  [[nodiscard]] LoadRate rate(const std::vector<LoadCount>& from, const std::vector<LoadCount>& to,
                              std::optional<std::size_t> buffer = std::nullopt) const;

  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }
  [[nodiscard]] const LoadKernel& kernel() const noexcept { return kernel_; }
  // The least share of pages on their node, and of huge pages, over all threads' buffers of an
  // index.
  [[nodiscard]] PlacementReport report(std::size_t buffer) const;

 private:
  struct Thread;
  void run(Thread& thread);
  void dismiss();
  void do_order(Thread& thread, const LoadOrder& order);

  const LoadKernel& kernel_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<LoadOrder> orders_;
  std::atomic<bool> running_{false};
};

}  // namespace cxltier::bench
