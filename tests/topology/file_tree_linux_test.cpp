// SPDX-License-Identifier: Apache-2.0
//
// FileTreeLinux against a folder that the test makes.
#include "runtime/os/file_tree_linux.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace cxltier {
namespace {

class Names final : public EntryVisitor {
 public:
  void visit(std::string_view name) noexcept override { names.emplace(name); }
  std::set<std::string> names;
};

class FileTreeLinuxTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cxltier-tree-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/sys/deep");
    std::ofstream(root_ + "/sys/deep/value") << "12\n";
    std::filesystem::create_symlink("sys/deep", root_ + "/relative");
    std::filesystem::create_symlink("/sys/deep", root_ + "/absolute");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Result<std::size_t> read(const char* path) {
    return FileTreeLinux(root_.c_str()).read(path, out_);
  }
  std::string text(std::size_t length) { return {out_.data(), length}; }

  std::string root_;
  std::array<char, 64> out_{};
};

TEST_F(FileTreeLinuxTest, ReadsAFile) {
  EXPECT_EQ(text(read("sys/deep/value").value_or(0)), "12\n");
}

TEST_F(FileTreeLinuxTest, ReadsTheHeadOfALongFile) {
  std::ofstream(root_ + "/long") << std::string(1000, 'x');
  EXPECT_EQ(read("long").value_or(0), out_.size());
}

TEST_F(FileTreeLinuxTest, NamesTheError) {
  EXPECT_EQ(read("absent").error(), ENOENT);
  EXPECT_EQ(read("sys").error(), EISDIR);
  EXPECT_EQ(read("sys/deep/value/below").error(), ENOTDIR);
  EXPECT_EQ(read("").error(), ENOENT);
  FileTreeLinux absent("/nonexistent/root");
  EXPECT_EQ(absent.read("sys", out_).error(), ENOENT);
}

TEST_F(FileTreeLinuxTest, FollowsLinksInsideTheRoot) {
  EXPECT_EQ(text(read("relative/value").value_or(0)), "12\n");
  // Kernels before 5.6 resolve this one on the machine itself, where it does not exist.
  const Result<std::size_t> absolute = read("absolute/value");
  EXPECT_TRUE(absolute.ok() || absolute.error() == ENOENT);
}

TEST_F(FileTreeLinuxTest, ReadsALinkAsItIsWritten) {
  FileTreeLinux tree(root_.c_str());
  EXPECT_EQ(text(tree.read_link("absolute", out_).value_or(0)), "/sys/deep");
  EXPECT_EQ(tree.read_link("sys/deep/value", out_).error(), EINVAL);
  EXPECT_EQ(tree.read_link("absent", out_).error(), ENOENT);
  std::array<char, 9> exact{};
  EXPECT_EQ(tree.read_link("absolute", exact).error(), ENAMETOOLONG);
}

// Long names, so that the folder takes more than one system call.
TEST_F(FileTreeLinuxTest, ListsEveryEntryOnce) {
  std::set<std::string> expected;
  std::filesystem::create_directory(root_ + "/many");
  for (int i = 0; i < 100; ++i) {
    const std::string name = "entry-" + std::string(100, 'n') + std::to_string(i);
    std::ofstream(root_ + "/many/" + name) << i;
    expected.insert(name);
  }
  FileTreeLinux tree(root_.c_str());
  Names names;

  const Result<std::size_t> visited = tree.list("many", names);

  EXPECT_EQ(visited.value_or(0), 100u);
  EXPECT_EQ(names.names, expected);
  EXPECT_EQ(tree.list("absent", names).error(), ENOENT);
  EXPECT_EQ(tree.list("sys/deep/value", names).error(), ENOTDIR);
}

TEST_F(FileTreeLinuxTest, FifoDoesNotHang) {
  ASSERT_EQ(mkfifo((root_ + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(read("fifo").value_or(1), 0u);
}

std::size_t descriptors_open() {
  Names names;
  FileTreeLinux tree("/");
  return tree.list("proc/self/fd", names).value_or(0);
}

TEST_F(FileTreeLinuxTest, KeepsNoDescriptorAndNoErrno) {
  const std::size_t before = descriptors_open();
  errno = 77;

  static_cast<void>(read("sys/deep/value"));
  static_cast<void>(read("absent"));
  static_cast<void>(FileTreeLinux(root_.c_str()).read_link("absolute", out_));

  EXPECT_EQ(errno, 77);
  EXPECT_EQ(descriptors_open(), before);
}

}  // namespace
}  // namespace cxltier
