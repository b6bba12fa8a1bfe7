// SPDX-License-Identifier: Apache-2.0
//
// Fork, drop privileges, exec; see the header.
#include "bench/redis_demo/child.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

bool pin_self(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

bool drop_privileges() {
  if (geteuid() != 0) return true;
  return setgroups(0, nullptr) == 0 && setgid(nobody_id) == 0 && setuid(nobody_id) == 0;
}

// Runs in the child; the words were made by the parent.
[[noreturn]] void become(const ChildPlan& plan, char* const* words, char* const* environment) {
  const int null = open("/dev/null", O_RDWR);
  const int output = plan.output < 0 ? null : plan.output;
  dup2(null, 0);
  dup2(output, 1);
  dup2(plan.output < 0 ? null : output, 2);
  close_range(3, ~0U, 0);
  const bool ready =
      (plan.cpu < 0 || pin_self(plan.cpu)) && drop_privileges() && chdir(plan.home.c_str()) == 0;
  // Redis asks for this too, but too late: what is allocated before then lies in huge pages, which
  // only move as a whole.  Kept across exec.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // After setuid, which clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (ready) execvpe(words[0], words, environment);
  _exit(exec_failed);
}

std::vector<char*> pointers_of(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int spawn(const ChildPlan& plan) {
  std::vector<std::string> words = plan.words;
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                                          "HOME=" + plan.home, "LANG=C.UTF-8"};
  const std::vector<char*> word_pointers = pointers_of(words);
  const std::vector<char*> environment_pointers = pointers_of(environment);
  const int pid = fork();
  if (pid < 0) fail_errno("fork");
  if (pid == 0) become(plan, word_pointers.data(), environment_pointers.data());
  return pid;
}

Capture spawn_captured(ChildPlan plan) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno("pipe");
  plan.output = ends[1];
  Capture capture;
  capture.output = ends[0];
  capture.pid = spawn(plan);
  close(ends[1]);
  return capture;
}

bool has_output(const Capture& capture) {
  pollfd wanted = {capture.output, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0;
}

std::string read_output(const Capture& capture, const std::string& name) {
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t count = read(capture.output, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(chunk, static_cast<std::size_t>(count));
  }
  close(capture.output);
  int status = 0;
  while (waitpid(capture.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(name + " failed (wait status " + std::to_string(status) + "): " + text);
  }
  return text;
}

}  // namespace cxltier::demo
