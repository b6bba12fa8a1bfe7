// SPDX-License-Identifier: Apache-2.0
//
// Hinted memory where the system allows less.  Each test runs in a child, which meets its classes
// for the first time there, and is named after what would go wrong.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "cxltier/alloc_table.h"
#include "cxltier/heap.hpp"
#include "cxltier/tier_heap.hpp"
#include "tests/allocator/made_up_tiers.h"

namespace cxltier::heap {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

const bool source_set = [] {
  initialize();
  set_tier_source(two_tiers_on_node_0);
  return true;
}();

constexpr int cannot_here = 77;

// The child's exit status: what `body` returns, 0 for success; or 1000 + the signal that ended it.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

cxltier_heap_statistics statistics() {
  cxltier_heap_statistics now{};
  now.size = sizeof now;
  alloc_table.read_heap_statistics(&now);
  return now;
}

std::size_t status_kib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) return std::strtoul(line.c_str() + field.size(), nullptr, 10);
  }
  return 0;
}

// Refuses mbind and move_pages with `error`.
bool refuse_calls(unsigned error) {
  std::array<sock_filter, 5> code{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mbind, 1, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_move_pages, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// Blocks of all classes; false if one is missing or has lost its bytes.
bool use_all_classes() {
  bool right = true;
  for (const cxltier_hint hint : {CXLTIER_HOT, CXLTIER_COLD, CXLTIER_BANDWIDTH}) {
    for (const std::size_t size : {std::size_t{100}, std::size_t{50000}, 3 * mib}) {
      auto* const block = static_cast<char*>(alloc_table.allocate(size, hint));
      if (block == nullptr) return false;
      std::memset(block, 3, size);
      right = right && block[size - 1] == 3;
      free(block);
    }
  }
  return right;
}

// Fault kind K2.
TEST(Degradation, CallsThatAreRefusedEndTheProgram) {
  for (const unsigned error : {EPERM, ENOSYS}) {
    const int status = in_child([error] {
      if (!refuse_calls(error)) return cannot_here;
      if (!use_all_classes()) return 1;
      cxltier_hint arena = 0;
      if (alloc_table.arena_create("here", CXLTIER_COLD, &arena) != 0) return 2;
      if (alloc_table.allocate(100, arena) == nullptr) return 3;
      if (alloc_table.arena_move(arena, CXLTIER_HOT) != -static_cast<int>(error)) return 4;
      errno = 0;
      if (alloc_table.allocate(8, CXLTIER_LOCAL_ONLY) != nullptr || errno != EPERM) return 5;
      cxltier_place place{};
      place.size = sizeof place;
      return alloc_table.where(&place, &place) == 0 && place.node == -1 ? 0 : 6;
    });
    if (status == cannot_here) GTEST_SKIP() << "this kernel takes no system-call filter";
    EXPECT_EQ(status, 0) << error;
  }
}

// Fault kind K15.
TEST(Degradation, NoAddressesMeanNoMemory) {
  EXPECT_EQ(in_child([] {
              const std::size_t limit = status_kib("VmSize:") * 1024 + 300 * mib;
              const rlimit both{limit, limit};
              if (setrlimit(RLIMIT_AS, &both) != 0) return 1;
              if (!use_all_classes()) return 2;
              return statistics().hints_unmet >= 9 && statistics().classes == 0 ? 0 : 3;
            }),
            0);
}

// Fault kind K14: locking fills what is open, and refuses to purge.
TEST(Degradation, LockedMemoryFillsTheReservation) {
  const int status = in_child([] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return cannot_here;
    const std::size_t before = status_kib("VmRSS:");
    if (!use_all_classes()) return 1;
    // Three classes: a step of 64 MiB each, and an arena with its bookkeeping.
    return status_kib("VmRSS:") <= before + 3 * (64 + 16) * 1024 ? 0 : 2;
  });
  if (status == cannot_here) GTEST_SKIP() << "no permission to lock memory";
  EXPECT_EQ(status, 0);
}

// Where core files go to the folder of the process; else nothing can be looked at.
bool core_files_lie_here() {
  std::ifstream pattern("/proc/sys/kernel/core_pattern");
  std::string text;
  std::getline(pattern, text);
  return !text.empty() && text.find_first_of("|/") == std::string::npos;
}

constexpr char marker[] = "every byte of three classes";
constexpr std::size_t page = 4096;
constexpr std::size_t dumped_pages = 3 * 8 * mib / page;

int die_with_marked_pages(const std::filesystem::path& folder) {
  if (chdir(folder.c_str()) != 0) return 1;
  for (const cxltier_hint hint : {CXLTIER_HOT, CXLTIER_COLD, CXLTIER_BANDWIDTH}) {
    auto* const block = static_cast<char*>(alloc_table.allocate_aligned(page, 8 * mib, hint));
    for (std::size_t at = 0; at < 8 * mib; at += page) std::strcpy(block + at, marker);
  }
  std::ofstream("resident") << status_kib("VmRSS:");
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &all);
  abort();
}

std::size_t marked_pages_in(const std::filesystem::path& file) {
  std::ifstream core(file, std::ios::binary);
  std::array<char, page> bytes{};
  std::size_t count = 0;
  while (core.read(bytes.data(), bytes.size())) count += std::strcmp(bytes.data(), marker) == 0;
  return count;
}

TEST(Degradation, CoreFilesLackPagesOrHoldTheReservation) {
  if (!core_files_lie_here()) GTEST_SKIP() << "core files go elsewhere on this machine";
  std::string name = testing::TempDir() + "core.XXXXXX";
  const std::filesystem::path folder = mkdtemp(name.data());
  const int status = in_child([&folder] { return die_with_marked_pages(folder); });
  ASSERT_EQ(status, 1000 + SIGABRT);
  std::size_t resident_kib = 0;
  std::ifstream(folder / "resident") >> resident_kib;
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("core")) continue;
    found = true;
    struct stat file {};
    ASSERT_EQ(stat(entry.path().c_str(), &file), 0);
    EXPECT_LE(static_cast<std::size_t>(file.st_blocks) / 2, resident_kib + 1024);
    EXPECT_LE(static_cast<std::size_t>(file.st_size), std::size_t{1} << 30);
    EXPECT_EQ(marked_pages_in(entry.path()), dumped_pages);
  }
  std::filesystem::remove_all(folder);
  if (!found) GTEST_SKIP() << "no core file was written: the hard limit forbids it";
}

}  // namespace
}  // namespace cxltier::heap
