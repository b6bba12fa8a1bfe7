// SPDX-License-Identifier: Apache-2.0
//
// Runs a shell line in which $cxltier is the command under test, and keeps what came of it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#ifndef CXLTIER_COMMAND  // the build names the programs; alone this header still compiles
#define CXLTIER_COMMAND "cxltier"
#define CXLTIER_FAKE_PRELOAD "libcxltier-preload.so"
#define CXLTIER_PAGE_PUBLISHER "cli_page_publisher"
#define CXLTIER_STATIC_PROGRAM "cli_static_program"
#endif

namespace cxltier {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class Command : public testing::Test {
 protected:
  Command() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cxltier-cli-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    scratch_ = pattern;
  }
  ~Command() override {
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // $cxltier, $scratch, $publisher and $static are set; CXLTIER_* of the caller are not.
  [[nodiscard]] Outcome shell(const std::string& line) const {
    const std::string script =
        "unset CXLTIER_POLICY CXLTIER_LIMIT CXLTIER_TIERS CXLTIER_START CXLTIER_LOG "
        "CXLTIER_PROFILE LD_PRELOAD\n"
        "export XDG_RUNTIME_DIR='" +
        scratch_ + "' XDG_STATE_HOME='" + scratch_ +
        "' CXLTIER_PRELOAD_PATH='" CXLTIER_FAKE_PRELOAD
        "'\n"
        "cxltier='" CXLTIER_COMMAND "' scratch='" +
        scratch_ +
        "'\n"
        "publisher='" CXLTIER_PAGE_PUBLISHER "' static='" CXLTIER_STATIC_PROGRAM "'\n" +
        line + "\n";
    write("script", script);
    const std::string run = "bash '" + scratch_ + "/script' >'" + scratch_ + "/out' 2>'" +
                            scratch_ + "/err' </dev/null";
    const int status = std::system(run.c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = read("out");
    outcome.err = read("err");
    return outcome;
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(scratch_ + "/" + name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(scratch_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string scratch_;
};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace cxltier
