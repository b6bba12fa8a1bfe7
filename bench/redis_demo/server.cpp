// SPDX-License-Identifier: Apache-2.0
//
// Life of a Redis server; see the header.
#include "bench/redis_demo/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/redis_demo/child.h"
#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

constexpr double start_max_s = 60;  // an emulated guest loads programs over 9p
constexpr double end_max_s = 5;

std::vector<std::string> server_words(const ServerPlan& plan, const std::string& socket_path) {
  std::vector<std::string> words = plan.launcher;
  const std::vector<std::string> redis = {
      plan.redis, "--port", "0", "--unixsocket", socket_path, "--unixsocketperm", "700",
      // Nothing is saved: a fork would copy page tables and disturb every row.
      "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", plan.folder,
      // DEBUG OBJECT serialises the value; uncompressed, that is a copy.
      "--enable-debug-command", "local", "--rdbcompression", "no"};
  words.insert(words.end(), redis.begin(), redis.end());
  return words;
}

bool child_ended(int child, int* status = nullptr) {
  return waitpid(child, status, WNOHANG) == child;
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (code == exec_failed) return "could not be started (not found, or not readable by nobody)";
  return "ended with status " + std::to_string(code);
}

}  // namespace

Server::Server(const ServerPlan& plan)
    : plan_(plan),
      socket_path_(plan.folder + "/" + plan.name + ".sock"),
      log_path_(plan.folder + "/" + plan.name + ".log") {
  start();
  wait_until_ready();
  pid_ = control_->server_pid();
}

void Server::start() {
  ChildPlan child;
  child.words = server_words(plan_, socket_path_);
  child.cpu = plan_.cpu;
  child.home = plan_.folder;
  child.output = open(log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (child.output < 0) fail_errno(log_path_);
  child_ = spawn(child);
  close(child.output);
}

void Server::wait_until_ready() {
  for (const double end = now_s() + start_max_s; now_s() < end; usleep(50'000)) {
    int status = 0;
    if (child_ended(child_, &status)) {
      child_ = -1;
      fail("server '" + plan_.name + "' " + end_text(status) + ": " +
           server_words(plan_, socket_path_).front() + "\n" + log_end());
    }
    const int socket = connect_unix(socket_path_);
    if (socket < 0) continue;
    control_ = std::make_unique<Connection>(socket);
    if (control_->call({"PING"}) == "PONG") return;
  }
  fail("server '" + plan_.name + "' does not answer; its log ends with:\n" + log_end());
}

std::string Server::log_end() const {
  std::ifstream file(log_path_);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  constexpr std::size_t shown = 2000;
  return all.size() > shown ? all.substr(all.size() - shown) : all;
}

Server::~Server() {
  control_.reset();
  if (pid_ > 0) {
    kill(pid_, SIGCONT);
    kill(pid_, SIGTERM);
  }
  if (child_ <= 0) return;
  for (const double end = now_s() + end_max_s; now_s() < end; usleep(20'000)) {
    if (child_ended(child_)) return;
  }
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void Server::pause() {
  if (kill(pid_, SIGSTOP) != 0) fail_errno("stopping server '" + plan_.name + "'");
}

void Server::resume() {
  if (kill(pid_, SIGCONT) != 0) {
    fail_errno("continuing server '" + plan_.name + "', whose log ends with:\n" + log_end());
  }
}

ServerFolder::ServerFolder(int keep) : keep_(keep) {
  char name[] = "/tmp/redis_demo.XXXXXX";
  if (mkdtemp(name) == nullptr) fail_errno("making a folder in /tmp");
  path_ = name;
  if (geteuid() == 0 && chown(name, nobody_id, nobody_id) != 0) fail_errno(path_);
}

ServerFolder::~ServerFolder() {
  if (keep_ != 0) {
    progress("the servers' logs stay in " + path_);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cxltier::demo
