// SPDX-License-Identifier: Apache-2.0
//
// Limits of control groups, of both versions, in folders made by hand.
#include "bench/tier/host/memory_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "runtime/os/file_tree_linux.h"

namespace cxltier::bench {
namespace {

namespace fs = std::filesystem;

class GroupsOfTest : public testing::Test {
 protected:
  GroupsOfTest() {
    std::string pattern = (fs::temp_directory_path() / "cxltier-groups-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~GroupsOfTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  GroupsOfTest(const GroupsOfTest&) = delete;
  GroupsOfTest& operator=(const GroupsOfTest&) = delete;

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  [[nodiscard]] std::uint64_t room() const {
    FileTreeLinux tree(root_.c_str());
    return room_in_groups(tree);
  }

  fs::path root_;
};

TEST_F(GroupsOfTest, WithoutGroupsNothingLimits) { EXPECT_EQ(room(), room_unlimited); }

TEST_F(GroupsOfTest, AGroupWithoutALimitDoesNotLimit) {
  write("proc/self/cgroup", "0::/a");
  write("sys/fs/cgroup/a/memory.max", "max");
  write("sys/fs/cgroup/a/memory.current", "100");
  EXPECT_EQ(room(), room_unlimited);
}

TEST_F(GroupsOfTest, TheLeastRoomOfAllGroupsAboveCounts) {
  write("proc/self/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/memory.max", "1000");
  write("sys/fs/cgroup/a/b/memory.current", "100");
  EXPECT_EQ(room(), 900u);
  write("sys/fs/cgroup/a/memory.max", "2000");
  write("sys/fs/cgroup/a/memory.current", "1500");
  EXPECT_EQ(room(), 500u);
  write("sys/fs/cgroup/memory.max", "3000");  // a container's own group, at the root of its mount
  write("sys/fs/cgroup/memory.current", "2900");
  EXPECT_EQ(room(), 100u);
  write("sys/fs/cgroup/memory.current", "3100");
  EXPECT_EQ(room(), 0u);
}

TEST_F(GroupsOfTest, WhatFillsCachesIsGivenBackUnderPressure) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/memory.max", "1000");
  write("sys/fs/cgroup/memory.current", "800");
  write("sys/fs/cgroup/memory.stat", "anon 100\nfile 700\ninactive_file 600\nactive_file 100");
  EXPECT_EQ(room(), 800u);
}

TEST_F(GroupsOfTest, VersionOneHasAControllerOfItsOwn) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/y");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "500");
  write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "200");
  EXPECT_EQ(room(), 300u);
}

TEST_F(GroupsOfTest, LinesWithoutSenseAreSkipped) {
  write("proc/self/cgroup", "\n::\nmemory\n4:memory");
  EXPECT_EQ(room(), room_unlimited);
}

}  // namespace
}  // namespace cxltier::bench
