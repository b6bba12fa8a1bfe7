// SPDX-License-Identifier: Apache-2.0
//
// Epoll load generator; see the header.  Replies have a known length, so that only bytes are
// counted until a batch is complete: an emulated CPU has little time to spare.
#include "bench/redis_demo/load_client.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"
#include "bench/redis_demo/resp.h"

namespace cxltier::demo {
namespace {

constexpr std::size_t head_size = 7;  // "$1018\r\n"
static_assert(value_size >= 1000 && value_size <= 9999);
constexpr std::size_t reply_size = head_size + value_size + 2;
constexpr std::size_t batch_size = reply_size * pipeline_depth;
constexpr int reply_max_ms = 30'000;

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(rank)]);
}

}  // namespace

struct LoadClient::Lane {
  int socket = -1;
  double sent_at = 0;
  std::size_t received = 0;
  std::string out;
  std::array<std::uint64_t, pipeline_depth> keys{};
  std::array<char, batch_size> in{};
};

LoadClient::LoadClient(const Server& server, const Dataset& dataset, std::uint64_t seed)
    : dataset_(dataset), random_(seed * 2 + 1), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) fail_errno("epoll_create1");
  for (int i = 0; i < connections; ++i) {
    auto lane = std::make_unique<Lane>();
    lane->socket = connect_unix(server.socket_path());
    if (lane->socket < 0) fail_errno(server.socket_path());
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = lane.get();
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, lane->socket, &event) != 0) fail_errno("epoll_ctl");
    lanes_.push_back(std::move(lane));
  }
}

LoadClient::~LoadClient() {
  for (const auto& lane : lanes_) close(lane->socket);
  close(epoll_);
}

// Marsaglia's xorshift64*: three shifts, cheap also when emulated.
std::uint64_t LoadClient::next_key() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  const std::uint64_t bits = random_ * 0x2545f4914f6cdd1d;
  const auto below = [&](std::uint64_t end) { return (bits >> 32) % end; };
  constexpr auto hot_of_1024 = static_cast<std::uint64_t>(hot_request_share * 1024);
  const bool hot = ((bits >> 16) & 1023) < hot_of_1024;
  return hot ? below(dataset_.hot_keys)
             : dataset_.hot_keys + below(dataset_.keys - dataset_.hot_keys);
}

void LoadClient::send_batch(Lane& lane) {
  lane.out.clear();
  for (std::uint64_t& key : lane.keys) {
    key = next_key();
    append_command(lane.out, {"GET", key_of(key)});
  }
  lane.received = 0;
  lane.sent_at = now_s();
  // A batch is far smaller than a socket's buffer, which is empty now: it is taken whole.
  const ssize_t sent = send(lane.socket, lane.out.data(), lane.out.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(lane.out.size())) fail_errno("sending a batch");
}

bool LoadClient::receive(Lane& lane) {
  const ssize_t count =
      recv(lane.socket, lane.in.data() + lane.received, batch_size - lane.received, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count < 0) fail_errno("receiving replies");
  if (count == 0) fail("Redis closed a connection under load");
  lane.received += static_cast<std::size_t>(count);
  if (lane.received < batch_size) return false;
  check_batch(lane);
  return true;
}

void LoadClient::check_batch(const Lane& lane) const {
  static const std::string head = "$" + std::to_string(value_size) + "\r\n";
  for (std::size_t i = 0; i < lane.keys.size(); ++i) {
    const char* reply = lane.in.data() + i * reply_size;
    const std::string key = key_of(lane.keys[i]);
    const bool right = std::memcmp(reply, head.data(), head_size) == 0 &&
                       std::memcmp(reply + head_size, key.data() + 4, digits_size) == 0;
    if (!right) fail("wrong reply to GET " + key + ": " + std::string(reply, 32));
  }
}

WindowResult LoadClient::run_window(double seconds) {
  const double end = now_s() + seconds;
  return run_while([end] { return now_s() < end; });
}

WindowResult LoadClient::run_while(const std::function<bool()>& wanted) {
  latencies_ms_.clear();
  const double start = now_s();
  for (const auto& lane : lanes_) send_batch(*lane);
  bool more = true;
  for (std::size_t waiting = lanes_.size(); waiting > 0;) {
    epoll_event events[connections];
    const int count = epoll_wait(epoll_, events, connections, reply_max_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("Redis gave no reply within 30 s");
    for (int i = 0; i < count; ++i) {
      Lane& lane = *static_cast<Lane*>(events[i].data.ptr);
      if (!receive(lane)) continue;
      latencies_ms_.push_back(static_cast<float>((now_s() - lane.sent_at) * 1e3));
      more = more && wanted();
      more ? send_batch(lane) : static_cast<void>(--waiting);
    }
  }
  WindowResult result;
  result.seconds = now_s() - start;
  result.requests_per_s =
      static_cast<double>(latencies_ms_.size()) * pipeline_depth / result.seconds;
  result.p50_ms = percentile(latencies_ms_, 0.5);
  result.p99_ms = percentile(latencies_ms_, 0.99);
  return result;
}

}  // namespace cxltier::demo
