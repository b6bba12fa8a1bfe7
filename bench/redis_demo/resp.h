// SPDX-License-Identifier: Apache-2.0
//
// One blocking connection to a Redis server: commands and replies of its protocol, RESP2.
//
// Commands may be pipelined: append() several, flush(), then read one reply for each.  Errors of
// the socket, a reply of unknown form and an error reply all throw Failure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace cxltier::demo {

// Appends one command in wire form to `out`.
void append_command(std::string& out, std::initializer_list<std::string_view> words);

// A connected stream socket for `path`, or -1 with errno.
int connect_unix(const std::string& path);

class Connection {
 public:
  // pre: `socket` is a connected stream socket; the connection closes it
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void append(std::initializer_list<std::string_view> words) { append_command(out_, words); }
  void flush();
  // The next reply: text of a status, an integer or a bulk string; a null bulk is empty.
  std::string read_reply();
  // One command and its reply.
  std::string call(std::initializer_list<std::string_view> words);
  // The process that listens on the other end.
  int server_pid() const;

 private:
  void fill();
  std::string read_line();
  std::string read_exactly(std::size_t count);

  int socket_;
  std::string out_;
  std::string in_;
  std::size_t taken_ = 0;  // of in_
};

}  // namespace cxltier::demo
