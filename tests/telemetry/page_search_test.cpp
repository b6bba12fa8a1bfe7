// SPDX-License-Identifier: Apache-2.0
//
// Finding the page of a process by its pid: in each place, inside a container, and saying rightly
// why there is none.
#include "runtime/telemetry/page_search.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

#include "runtime/telemetry/writer.h"
#include "tests/telemetry/scratch_folder.h"

namespace cxltier {
namespace {

const auto own_pid = static_cast<std::uint32_t>(::getpid());

SearchPlace search_in(const ScratchFolder& scratch) {
  return {nullptr, scratch.path().c_str(), scratch.path().c_str()};
}

TEST(PageSearch, FindsAServicesPageByPidAndByThread) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  TelemetryPage page;

  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::none);
  EXPECT_EQ(page.header.pid, own_pid);

  PageFailure by_thread = PageFailure::absent;
  std::thread([&] {
    const auto thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    by_thread = find_telemetry_page(thread_id, search_in(scratch), page);
  }).join();
  EXPECT_EQ(by_thread, PageFailure::none);
  writer.close();
}

// The writer ran in a session (XDG_RUNTIME_DIR set), the reader does not.
TEST(PageSearch, FindsAPageInTheUsersSessionFolder) {
  const ScratchFolder scratch;
  const std::string session = scratch.path() + "/" + std::to_string(::geteuid());
  std::filesystem::create_directory(session);
  ASSERT_EQ(::chmod(session.c_str(), 0700), 0);
  TelemetryWriter writer;
  ASSERT_TRUE(
      writer.open({session.c_str(), scratch.path().c_str(), ::geteuid()}, self_identity()).ok());
  TelemetryPage page;
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::none);
  writer.close();
}

// The writer was a service, the reader sits in a session that has a telemetry folder of its own.
TEST(PageSearch, ASessionFolderDoesNotHideAServicesPage) {
  const ScratchFolder scratch;
  const ScratchFolder session;
  std::filesystem::create_directory(session.path() + "/cxltier");
  ASSERT_EQ(::chmod((session.path() + "/cxltier").c_str(), 0700), 0);
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  SearchPlace place = search_in(scratch);
  place.runtime_folder = session.path().c_str();
  TelemetryPage page;
  EXPECT_EQ(find_telemetry_page(own_pid, place, page), PageFailure::none);
  writer.close();
}

TEST(PageSearch, SaysWhyThereIsNone) {
  const ScratchFolder scratch;
  TelemetryPage page;
  EXPECT_EQ(find_telemetry_page(4'194'305, search_in(scratch), page), PageFailure::no_process);
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::absent);

  ProcessIdentity earlier = self_identity();
  earlier.start_time_ticks -= 1;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), earlier).ok());
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::stale);
  writer.close();

  ProcessIdentity before_exec = self_identity();
  before_exec.exec_mark += 16;
  ASSERT_TRUE(writer.open(scratch.place(), before_exec).ok());
  writer.publish({});
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::stale);
  writer.close();

  write_file(scratch.page_path(own_pid), std::string(9000, 'x'));
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::damaged);

  ASSERT_EQ(::chmod(scratch.folder_path().c_str(), 0777), 0);
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::untrusted);

  const std::string elsewhere = scratch.path() + "/elsewhere";
  std::filesystem::rename(scratch.folder_path(), elsewhere);
  ASSERT_EQ(::chmod(elsewhere.c_str(), 0700), 0);
  std::filesystem::create_directory_symlink(elsewhere, scratch.folder_path());
  EXPECT_EQ(find_telemetry_page(own_pid, search_in(scratch), page), PageFailure::untrusted);
}

// In a container: own PID namespace, own /dev/shm.  Writes "." when its page is there, "s" when it
// may not make such a container, and stays until the pipe closes.
[[noreturn]] void run_contained(int ready, int stay) {
  char signal = 's';
  if (::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) {
    const pid_t inner = ::fork();
    if (inner != 0) {
      const std::string number = std::to_string(inner);
      if (::write(ready, number.c_str(), number.size() + 1) < 0) ::_exit(1);
      ::waitpid(inner, nullptr, 0);
      ::_exit(0);
    }
    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    TelemetryWriter writer;
    const bool done = ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0 &&
                      writer.open({nullptr, "/dev/shm", ::geteuid()}, self_identity()).ok();
    signal = done ? '.' : 's';
  }
  if (::write(ready, &signal, 1) == 1) (void)!::read(stay, &signal, 1);
  ::_exit(0);
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  int ends[2]{};
};

TEST(PageSearch, FindsThePageOfAContainedProcess) {
  Pipe ready;
  Pipe stay;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(stay.ends[1]);
    run_contained(ready.ends[1], stay.ends[0]);
  }
  ::close(ready.ends[1]);
  ::close(stay.ends[0]);
  // The number, ended by a zero, and the inner process's word may come in either order.
  std::string report;
  bool numbered = false;
  bool contained = false;
  for (char c = 0; !(numbered && contained) && ::read(ready.ends[0], &c, 1) == 1;) {
    if (c == 's') break;
    if (c == '\0') numbered = true;
    if (c == '.') contained = true;
    if (c >= '0' && c <= '9') report += c;
  }
  contained = contained && numbered;
  TelemetryPage page;
  const ScratchFolder scratch;
  PageFailure found = PageFailure::absent;
  if (contained) {
    found = find_telemetry_page(static_cast<std::uint32_t>(std::stoul(report)), search_in(scratch),
                                page);
  }
  ::close(stay.ends[1]);
  ::waitpid(child, nullptr, 0);
  if (!contained) GTEST_SKIP() << "no permission to make a PID namespace";
  EXPECT_EQ(found, PageFailure::none);
  EXPECT_EQ(page.header.pid, 1u) << "the pid as the process itself sees it";
}

}  // namespace
}  // namespace cxltier
