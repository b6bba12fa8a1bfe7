// SPDX-License-Identifier: Apache-2.0
//
// Folders, access, and replacing a file by its new form.
#include "bench/tier/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "bench/tier/interrupt.h"
#include "runtime/settings/settings.h"
#include "runtime/topology/machine_profile.h"

namespace cxltier::bench {
namespace {

namespace fs = std::filesystem;

// A device or a pipe, such as /dev/stdout, has no other form to be replaced by.
bool is_replaceable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

[[noreturn]] void refuse(const std::string& option, const std::string& path, const char* cause) {
  throw std::invalid_argument(
      fmt::format("{}: cannot write {}: {}; name a file in a folder that is there and yours",
                  option, path, cause));
}

}  // namespace

void check_writable(const std::string& option, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) refuse(option, path, "it is a folder");
  if (fs::exists(path, error)) {
    if (::access(path.c_str(), W_OK) != 0) refuse(option, path, std::strerror(errno));
    return;
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(option, path, std::strerror(errno));
}

void write_file(const std::string& path, const std::string& text) {
  const bool replaced = is_replaceable(path);
  std::optional<InterruptsHeld> held;  // a pipe may never take it all: that may be interrupted
  if (replaced) held.emplace();
  const std::string written = replaced ? fmt::format("{}.{}.new", path, ::getpid()) : path;
  errno = 0;
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  const bool right = static_cast<bool>(file);
  int cause = errno;
  file.close();
  if (right && replaced && ::rename(written.c_str(), path.c_str()) != 0) cause = errno;
  if (right && (!replaced || !fs::exists(written))) return;
  std::error_code ignored;
  if (replaced) fs::remove(written, ignored);
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(cause)));
}

std::string saved_profile_path() {
  std::string path;
  if (::geteuid() == 0) {
    path = ProfilePlaces::profile_of_machine;
  } else {
    std::array<char, profile_path_max> own{};
    if (format_profile_own(environ, own) == 0) {
      throw std::invalid_argument(
          "--save: neither HOME nor XDG_STATE_HOME is a folder to save in; give a file, as in "
          "--save=FILE");
    }
    path = own.data();
  }
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  fs::create_directories(folder, error);
  if (error) {
    throw std::runtime_error(
        fmt::format("--save: cannot make the folder {}: {}; give a file, as in --save=FILE",
                    folder.string(), error.message()));
  }
  return path;
}

}  // namespace cxltier::bench
