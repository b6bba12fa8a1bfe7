// SPDX-License-Identifier: Apache-2.0
//
// An empty folder that stands for /dev/shm in a test and goes away with it, and small file calls
// whose failure fails the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "runtime/telemetry/folder.h"
#include "runtime/telemetry/process_identity.h"

namespace cxltier {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cxltier-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] FolderPlace place() const { return {nullptr, path_.c_str(), ::geteuid()}; }
  // Where a page of `pid` is, once the telemetry folder was made.
  [[nodiscard]] std::string page_path(std::uint32_t pid) const {
    return folder_path() + "/" + std::to_string(pid);
  }
  [[nodiscard]] std::string folder_path() const {
    return path_ + "/cxltier-" + std::to_string(::geteuid());
  }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  ASSERT_TRUE(file.good()) << path;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline ProcessIdentity self_identity() {
  const Result<ProcessIdentity> self = identity_of_self();
  EXPECT_TRUE(self.ok());
  return self.value();
}

}  // namespace cxltier
