// SPDX-License-Identifier: Apache-2.0
//
// The load: GETs, 90 % of them evenly over the hot keys and 10 % evenly over the others.
//
// Sixteen connections on one thread; each sends a batch of eight GETs, waits for the eight replies
// and sends the next batch: 128 requests are always under way, so that neither side waits for the
// other to wake up, which takes long on an emulated CPU.  The latency of a batch, from sending it
// to its last reply, is what p50 and p99 are taken from.  Every reply is compared with the key that
// it belongs to.  The sequence of keys depends on the seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/redis_demo/dataset.h"

namespace cxltier::demo {

inline constexpr int connections = 16;
inline constexpr int pipeline_depth = 8;
inline constexpr double hot_request_share = 0.9;

struct WindowResult {
  double seconds = 0;
  double requests_per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

class LoadClient {
 public:
  LoadClient(const Server& server, const Dataset& dataset, std::uint64_t seed);
  ~LoadClient();
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // Loads the server for so long and measures.  errors: throws Failure on a wrong reply
  WindowResult run_window(double seconds);
  // Loads the server as long as `wanted` says so; it is asked after each batch.
  WindowResult run_while(const std::function<bool()>& wanted);

 private:
  struct Lane;
  void send_batch(Lane& lane);
  // Takes what has arrived; true when the batch is complete.
  bool receive(Lane& lane);
  void check_batch(const Lane& lane) const;
  std::uint64_t next_key();

  Dataset dataset_;
  std::uint64_t random_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<float> latencies_ms_;
};

}  // namespace cxltier::demo
