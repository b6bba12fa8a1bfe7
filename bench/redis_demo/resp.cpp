// SPDX-License-Identifier: Apache-2.0
//
// RESP2 over a Unix socket; see the header.
#include "bench/redis_demo/resp.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "bench/redis_demo/failure.h"

namespace cxltier::demo {

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  out += "*" + std::to_string(words.size()) + "\r\n";
  for (std::string_view word : words) {
    out += "$" + std::to_string(word.size()) + "\r\n";
    out += word;
    out += "\r\n";
  }
}

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  path.copy(address.sun_path, path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
  const int cause = errno;
  ::close(socket);
  return errno = cause, -1;
}

Connection::~Connection() { ::close(socket_); }

void Connection::flush() {
  for (std::size_t sent = 0; sent < out_.size();) {
    const ssize_t count = ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_errno("sending to Redis");
    sent += static_cast<std::size_t>(count);
  }
  out_.clear();
}

void Connection::fill() {
  in_.erase(0, taken_);
  taken_ = 0;
  char chunk[65536];
  ssize_t count = 0;
  do {
    count = ::recv(socket_, chunk, sizeof chunk, 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail_errno("reading from Redis");
  if (count == 0) fail("Redis closed the connection");
  in_.append(chunk, static_cast<std::size_t>(count));
}

std::string Connection::read_line() {
  for (;;) {
    const std::size_t end = in_.find("\r\n", taken_);
    if (end != std::string::npos) {
      std::string line = in_.substr(taken_, end - taken_);
      taken_ = end + 2;
      return line;
    }
    fill();
  }
}

std::string Connection::read_exactly(std::size_t count) {
  while (in_.size() - taken_ < count) fill();
  std::string bytes = in_.substr(taken_, count);
  taken_ += count;
  return bytes;
}

std::string Connection::read_reply() {
  const std::string line = read_line();
  const char kind = line.empty() ? '\0' : line[0];
  if (kind == '+' || kind == ':') return line.substr(1);
  if (kind == '-') fail("Redis refused a command: " + line.substr(1));
  if (kind != '$') fail("Redis sent a reply of unknown form: " + line);
  const long size = std::stol(line.substr(1));
  if (size < 0) return {};
  std::string bytes = read_exactly(static_cast<std::size_t>(size));
  read_exactly(2);
  return bytes;
}

std::string Connection::call(std::initializer_list<std::string_view> words) {
  append(words);
  flush();
  return read_reply();
}

int Connection::server_pid() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    fail_errno("asking for the server's process id");
  }
  return peer.pid;
}

}  // namespace cxltier::demo
