// SPDX-License-Identifier: Apache-2.0
//
// The life of a page: it is made only where it is safe, updated as one, removed only by its owner,
// and a failure leaves neither a file nor a dead program behind.
#include "runtime/telemetry/writer.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "runtime/telemetry/descriptor.h"
#include "runtime/telemetry/reader.h"
#include "tests/telemetry/scratch_folder.h"

namespace cxltier {
namespace {

constexpr int exit_skip = 77;

// Runs `body` in a child, since what it does to its process cannot be undone; returns its status.
int status_in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

PageFailure read_page(const ScratchFolder& scratch, std::uint32_t pid, TelemetryPage& page) {
  const Descriptor folder(open_telemetry_folder(scratch.place(), FolderUse::find).value_or(-1));
  return read_telemetry_page({folder.number(), pid, ::geteuid()}, page);
}

TelemetryPage page_of(std::uint64_t number) {
  TelemetryPage page;
  page.state = RunState::active;
  std::strcpy(page.policy.data(), "hot-cold");
  page.page_size = 4096;
  page.ticks = number;
  page.pages_promoted = number;
  page.node_count = 2;
  page.nodes[1] = {7, static_cast<std::uint8_t>(NodeKind::cxl), 1, 0, number};
  page.tier_count = 2;
  for (std::uint64_t& bin : page.heat_histogram) bin = number;
  return page;
}

TEST(TelemetryWriter, WhatIsPublishedIsRead) {
  const ScratchFolder scratch;
  const ProcessIdentity self = self_identity();
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self).ok());
  TelemetryPage written = page_of(12345);

  writer.publish(written);

  written.exec_mark = self.exec_mark;  // the writer's own

  TelemetryPage read;
  ASSERT_EQ(read_page(scratch, self.pid, read), PageFailure::none);
  const std::size_t values = offsetof(TelemetryPage, state);
  EXPECT_EQ(std::memcmp(reinterpret_cast<const char*>(&read) + values,
                        reinterpret_cast<const char*>(&written) + values, sizeof read - values),
            0);
  EXPECT_EQ(read.header.pid, self.pid);
  EXPECT_EQ(read.header.start_time_ticks, self.start_time_ticks);
  EXPECT_EQ(read.header.size, sizeof(TelemetryPage));
  writer.close();
}

TEST(TelemetryWriter, BeforeTheFirstUpdateItSaysThatItStarts) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  TelemetryPage read;
  ASSERT_EQ(read_page(scratch, self_identity().pid, read), PageFailure::none);
  EXPECT_EQ(read.state, RunState::starting);
  writer.close();
}

TEST(TelemetryWriter, TheFileIsPrivateHasItsBlocksAndGoesAwayOnClose) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  struct stat about {};
  const std::string path = scratch.page_path(self_identity().pid);
  ASSERT_EQ(::stat(path.c_str(), &about), 0);

  EXPECT_EQ(about.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_EQ(about.st_size, static_cast<off_t>(sizeof(TelemetryPage)));
  EXPECT_GE(about.st_blocks * 512, about.st_size) << "a hole could raise SIGBUS later";

  writer.close();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(writer.is_open());
  writer.close();
  writer.publish(page_of(1));  // both do nothing on a closed page
}

TEST(TelemetryWriter, CloseLeavesAFileThatIsNotItsOwn) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  const std::string path = scratch.page_path(self_identity().pid);
  std::filesystem::rename(path, path + "-old");
  write_file(path, "somebody else's");

  writer.close();

  EXPECT_EQ(read_file(path), "somebody else's");
}

TEST(TelemetryWriter, NoDescriptorStaysOpen) {
  const ScratchFolder scratch;
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = count();
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  EXPECT_EQ(count(), before);
  writer.close();
  EXPECT_EQ(count(), before);
}

// Programs that set their title write over the environment that XDG_RUNTIME_DIR came from.
TEST(TelemetryWriter, OutlivesTheTextOfTheEnvironment) {
  const ScratchFolder scratch;
  const ScratchFolder session;
  std::string environment = session.path();
  TelemetryWriter writer;
  const FolderPlace place{environment.c_str(), scratch.path().c_str(), ::geteuid()};
  ASSERT_TRUE(writer.open(place, self_identity()).ok());
  const std::string path = session.path() + "/cxltier/" + std::to_string(::getpid());
  ASSERT_TRUE(std::filesystem::exists(path));

  environment.assign(environment.size(), 'x');
  writer.close();

  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TelemetryWriter, AForkChildHasNoAccessToItsParentsPage) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  writer.publish(page_of(5));
  const int status = status_in_child([&writer] {
    const std::string maps = read_file("/proc/self/maps");
    if (maps.find("/cxltier-") != std::string::npos &&
        maps.find("/" + std::to_string(::getppid()) + "\n") != std::string::npos) {
      return 1;
    }
    writer.abandon();
    writer.publish(page_of(6));
    writer.close();
    return 0;
  });
  EXPECT_EQ(status, 0);
  TelemetryPage read;
  ASSERT_EQ(read_page(scratch, self_identity().pid, read), PageFailure::none);
  EXPECT_EQ(read.ticks, 5u);
  writer.close();
}

// Updates race with reads; every page that is read must be of one update.
TEST(TelemetryWriter, ReadersNeverSeeAMixOfTwoUpdates) {
  const ScratchFolder scratch;
  const ProcessIdentity self = self_identity();
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self).ok());
  std::atomic<bool> done{false};
  std::thread updates([&] {
    for (std::uint64_t n = 1; !done; ++n) {
      writer.publish(page_of(n));
      std::this_thread::yield();
    }
  });
  int whole = 0;
  for (int round = 0; round < 500; ++round) {
    TelemetryPage read;
    if (read_page(scratch, self.pid, read) != PageFailure::none) continue;
    ++whole;
    const std::uint64_t number = read.ticks;
    EXPECT_EQ(read.pages_promoted, number);
    EXPECT_EQ(read.nodes[1].pages, number);
    EXPECT_EQ(read.heat_histogram.front(), number);
    EXPECT_EQ(read.heat_histogram.back(), number);
  }
  done = true;
  updates.join();
  EXPECT_GT(whole, 0);
  writer.close();
}

// A full file system must be an error code now, not a SIGBUS at the first update.
TEST(TelemetryWriter, AFullFileSystemIsAnErrorAndLeavesNothing) {
  const ScratchFolder scratch;
  const int status = status_in_child([&scratch] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return exit_skip;
    }
    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=4096") != 0) return exit_skip;
    write_file(scratch.path() + "/filler", std::string(4096, 'f'));
    TelemetryWriter writer;
    const FolderPlace place{nullptr, scratch.path().c_str(), ::geteuid()};
    const Result<Done> opened = writer.open(place, self_identity());
    writer.publish(page_of(1));
    if (opened.error() != ENOSPC || writer.is_open()) return 1;
    const std::string folder = scratch.path() + "/cxltier-" + std::to_string(::geteuid());
    return std::filesystem::is_empty(folder) ? 0 : 2;
  });
  if (status == exit_skip) GTEST_SKIP() << "no permission to mount a small file system";
  EXPECT_EQ(status, 0);
}

// `ulimit -f 0`: growing a file raises SIGXFSZ, whose default is the end of the program.
TEST(TelemetryWriter, AFileSizeLimitIsAnErrorAndNotASignal) {
  const ScratchFolder scratch;
  const int status = status_in_child([&scratch] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_FSIZE, &none) != 0) return 1;
    TelemetryWriter writer;
    const Result<Done> opened = writer.open(scratch.place(), self_identity());
    return opened.error() == EFBIG && std::filesystem::is_empty(scratch.folder_path()) ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(TelemetryWriter, AnUnusableFolderIsAnError) {
  TelemetryWriter writer;
  EXPECT_EQ(writer.open({nullptr, "/nowhere", ::geteuid()}, self_identity()).error(), ENOENT);
  EXPECT_FALSE(writer.is_open());
}

// Leaves the page of `left` behind as a killed process does, and returns its path.
std::string leave_page(const ScratchFolder& scratch, const ProcessIdentity& left) {
  TelemetryWriter writer;
  EXPECT_TRUE(writer.open(scratch.place(), left).ok());
  const std::string path = scratch.page_path(left.pid);
  std::filesystem::copy_file(path, path + "-kept");
  writer.close();
  std::filesystem::rename(path + "-kept", path);
  return path;
}

constexpr std::uint32_t dead_pid = 4'194'305;  // above the kernel's PID_MAX_LIMIT

TEST(Sweep, RemovesThePagesOfTheDeadAndOfOtherBoots) {
  const ScratchFolder scratch;
  const ProcessIdentity self = self_identity();
  ProcessIdentity dead = self;
  dead.pid = dead_pid;
  ProcessIdentity reused = self;
  reused.pid = static_cast<std::uint32_t>(::getppid());
  reused.start_time_ticks += 1;
  const std::string dead_path = leave_page(scratch, dead);
  const std::string reused_path = leave_page(scratch, reused);
  ProcessIdentity rebooted = self;
  rebooted.pid = dead_pid + 1;
  rebooted.boot_id[0] = 'z';
  rebooted.pid_namespace += 1;
  const std::string rebooted_path = scratch.page_path(rebooted.pid);
  leave_page(scratch, rebooted);
  // The sweep of `rebooted` took the others for pages of another boot: leave them again.
  leave_page(scratch, dead);
  leave_page(scratch, reused);
  leave_page(scratch, rebooted);

  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self).ok());

  EXPECT_FALSE(std::filesystem::exists(dead_path));
  EXPECT_FALSE(std::filesystem::exists(reused_path));
  EXPECT_FALSE(std::filesystem::exists(rebooted_path));
  writer.close();
}

TEST(Sweep, LeavesTheLivingOtherNamespacesAndForeignFiles) {
  const ScratchFolder scratch;
  const ProcessIdentity self = self_identity();
  ProcessIdentity parent = self;
  parent.pid = static_cast<std::uint32_t>(::getppid());
  parent.start_time_ticks = start_time_of(parent.pid).value();
  ProcessIdentity contained = self;
  contained.pid = dead_pid;
  contained.pid_namespace += 1;
  const std::string parent_path = leave_page(scratch, parent);
  const std::string contained_path = leave_page(scratch, contained);
  write_file(scratch.folder_path() + "/notes.txt", "mine");
  write_file(scratch.folder_path() + "/4194306", "not a page");

  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self).ok());

  EXPECT_TRUE(std::filesystem::exists(parent_path));
  EXPECT_TRUE(std::filesystem::exists(contained_path));
  EXPECT_TRUE(std::filesystem::exists(scratch.folder_path() + "/notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(scratch.folder_path() + "/4194306"));
  writer.close();
}

// A process that was killed between making its file and writing the header.
TEST(Sweep, RemovesAnOldFileWithoutAHeaderAndLeavesAFreshOne) {
  const ScratchFolder scratch;
  TelemetryWriter writer;
  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());
  writer.close();
  const std::string old_path = scratch.folder_path() + "/4194306";
  const std::string fresh_path = scratch.folder_path() + "/4194307";
  write_file(old_path, std::string(8192, '\0'));
  write_file(fresh_path, "");
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(old_path, now - std::chrono::minutes(2));

  ASSERT_TRUE(writer.open(scratch.place(), self_identity()).ok());

  EXPECT_FALSE(std::filesystem::exists(old_path));
  EXPECT_TRUE(std::filesystem::exists(fresh_path));
  writer.close();
}

// exec keeps pid and start time, and runs no exit handler: the page is of this process's past.
TEST(Sweep, ReplacesAPageOfItsOwnPid) {
  const ScratchFolder scratch;
  const ProcessIdentity self = self_identity();
  leave_page(scratch, self);
  TelemetryWriter writer;
  EXPECT_TRUE(writer.open(scratch.place(), self).ok());
  writer.close();

  write_file(scratch.page_path(self.pid), "killed while it made its page");
  EXPECT_TRUE(writer.open(scratch.place(), self).ok());
  writer.close();
}

TEST(Sweep, DoesNotTakeThePageOfTheSamePidInAnotherContainer) {
  const ScratchFolder scratch;
  ProcessIdentity contained = self_identity();
  contained.pid_namespace += 1;
  const std::string path = leave_page(scratch, contained);
  const std::string before = read_file(path);
  TelemetryWriter writer;

  EXPECT_EQ(writer.open(scratch.place(), self_identity()).error(), EEXIST);

  EXPECT_FALSE(writer.is_open());
  EXPECT_EQ(read_file(path), before);
}

}  // namespace
}  // namespace cxltier
