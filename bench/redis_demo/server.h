// SPDX-License-Identifier: Apache-2.0
//
// One Redis server in a folder of its own: started, asked, stopped and continued, ended.
//
// It listens on a Unix socket only, saves nothing, runs as an unprivileged user and is pinned, with
// all threads that it makes, to one CPU.  Its process is the one that listens on the socket, which
// need not be our child: a launcher may stand in front.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/redis_demo/resp.h"

namespace cxltier::demo {

struct ServerPlan {
  std::string name;                   // of its folder's files and in messages
  std::vector<std::string> launcher;  // words in front of the server's; may be empty
  std::string redis;
  std::string folder;  // writable by the unprivileged user
  int cpu = 0;
};

class Server {
 public:
  // Returns when the server answers.  errors: throws Failure with the end of the server's log
  explicit Server(const ServerPlan& plan);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int pid() const { return pid_; }
  const std::string& name() const { return plan_.name; }
  const std::string& socket_path() const { return socket_path_; }
  Connection& control() { return *control_; }
  // SIGSTOP and SIGCONT: a stopped server costs nothing and its runtime decides nothing.
  void pause();
  void resume();

 private:
  void start();
  void wait_until_ready();
  std::string log_end() const;

  ServerPlan plan_;
  std::string socket_path_;
  std::string log_path_;
  int child_ = -1;
  int pid_ = -1;
  std::unique_ptr<Connection> control_;
};

// A folder below /tmp that the unprivileged user may write; removed with all files on destruction.
class ServerFolder {
 public:
  // keep: 0 or 1
  explicit ServerFolder(int keep);
  ~ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int keep_;
};

}  // namespace cxltier::demo
