// SPDX-License-Identifier: Apache-2.0
//
// A server that daemonises keeps its heap and loses every thread: the child gets a controller of
// its own, while children that soon exec or exit get none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/guest/controller_thread.h"
#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t limit_pages = 16 * mib / page_bytes;

struct DaemonReport {
  double thread_after_s = -1;  // since the fork; negative: never
  double limit_after_s = -1;
  std::size_t dram_pages = 0;
  std::size_t wrong_words = 0;
};

// The daemon's work: it allocates, uses its heap and looks at itself.
DaemonReport live_as_daemon(const Pattern& inherited) {
  DaemonReport report;
  const auto begin = Clock::now();
  std::vector<std::unique_ptr<char[]>> blocks;
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) blocks.push_back(std::make_unique<char[]>(1024));
    report.wrong_words += inherited.wrong(0, 512, 0, 2 * mib / 8);
  };
  const bool has_thread = becomes_true(std::chrono::seconds(30), [&] {
    work();
    return controller_thread().has_value();
  });
  if (!has_thread) return report;
  report.thread_after_s = seconds_since(begin);
  const bool under_limit = becomes_true(std::chrono::seconds(60), [&] {
    work();
    report.dram_pages = anonymous_pages_on(dram_nodes());
    return report.dram_pages * 100 <= limit_pages * 102;
  });
  if (under_limit) report.limit_after_s = seconds_since(begin);
  report.wrong_words += inherited.wrong(0, 8);
  return report;
}

// Forks a server that takes a heap, forks again and leaves; its child reports to `out`.
pid_t launch_daemon(int out) {
  const pid_t launcher = fork();
  if (launcher != 0) return launcher;
  Pattern heap(32 * mib);
  heap.write(0);
  if (fork() != 0) _exit(0);
  setsid();
  const DaemonReport report = live_as_daemon(heap);
  const bool said = write(out, &report, sizeof report) == sizeof report;
  _exit(said ? 0 : 1);
}

TEST(Daemonises, TheChildGetsAControllerAndComesUnderItsLimit) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t launcher = launch_daemon(ends[1]);
  close(ends[1]);
  ASSERT_EQ(waitpid(launcher, nullptr, 0), launcher);

  DaemonReport report;
  ASSERT_EQ(read(ends[0], &report, sizeof report), static_cast<ssize_t>(sizeof report));
  close(ends[0]);
  std::printf("daemon: thread after %.1f s, under its limit after %.1f s, %zu pages on DRAM\n",
              report.thread_after_s, report.limit_after_s, report.dram_pages);
  EXPECT_GE(report.thread_after_s, 0);
  EXPECT_GE(report.limit_after_s, 0);
  EXPECT_EQ(report.wrong_words, 0u);
}

// Seconds of a life in which no child is worth a thread, with room for a slow machine.
constexpr double short_life_s = 0.8;
constexpr double young_s = 1.5;

// Allocates for a short life and looks at itself; exit status 1 if a controller came while it was
// young.
[[noreturn]] void live_shortly() {
  const auto begin = Clock::now();
  std::vector<std::unique_ptr<char[]>> blocks;
  while (seconds_since(begin) < short_life_s) {
    blocks.clear();  // a program that takes a large heap of its own has earned a controller
    for (int i = 0; i < 3000; ++i) blocks.push_back(std::make_unique<char[]>(64));
    if (controller_thread().has_value() && seconds_since(begin) < young_s) _exit(1);
  }
  _exit(0);
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Daemonises, ShortLivedAndExecutingChildrenGetNoThread) {
  Pattern heap(16 * mib);
  heap.write(0);
  ASSERT_TRUE(
      becomes_true(std::chrono::seconds(30), [] { return controller_thread().has_value(); }));

  const pid_t forked = fork();
  if (forked == 0) live_shortly();
  EXPECT_EQ(status_of(forked), 0);

  const pid_t executing = fork();
  if (executing == 0) {
    execl("/proc/self/exe", "daemonises_test", "--live-shortly", nullptr);
    _exit(127);
  }
  EXPECT_EQ(status_of(executing), 0);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  using namespace cxltier::guest;
  start_preloaded(argv, {.environment = {"CXLTIER_LIMIT=dram=16M"}, .prepare = {}});
  if (argc == 2 && std::strcmp(argv[1], "--live-shortly") == 0) live_shortly();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
