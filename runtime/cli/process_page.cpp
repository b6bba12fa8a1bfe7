// SPDX-License-Identifier: Apache-2.0
//
// Reading numbers of processes, their names, and what stands between them and their page.
#include "runtime/cli/process_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "runtime/telemetry/page_search.h"

namespace cxltier {
namespace {

constexpr double seconds_max = 86'400;
constexpr double seconds_min = 0.01;

enum class Preloaded { no, yes, unknown };

Preloaded has_library(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  if (!file) return Preloaded::unknown;
  for (std::string line; std::getline(file, line);) {
    if (line.find("/libcxltier-preload.so") != std::string::npos) return Preloaded::yes;
  }
  return file.bad() ? Preloaded::unknown : Preloaded::no;
}

// Whether one of the process's threads is named as the controller's is (runtime/preload/seat.cpp).
bool has_controller(std::uint32_t pid) {
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws, name);
    if (name == "cxltier" && thread.path().filename() != std::to_string(pid)) return true;
  }
  return false;
}

// A variable of the environment that the process was started with; empty if it has none.
std::string variable_of(std::uint32_t pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return {};
}

std::string fault_without_page(const std::string& who, std::uint32_t pid) {
  switch (has_library(pid)) {
    case Preloaded::yes:
      // A server that writes over its environment (Redis does, for its title) hides the folder.
      if (has_controller(pid)) {
        return who +
               " is under cxltier, but its telemetry page is in no folder that was looked at; "
               "if it was started with an XDG_RUNTIME_DIR of its own, give the same: "
               "XDG_RUNTIME_DIR=DIR cxltier stat PID";
      }
      return who +
             " is under cxltier, which has not started in it: it starts when the heap grows "
             "beyond CXLTIER_START; wait for that, or run it with a lower --start";
    case Preloaded::no:
      return who + " is not under cxltier; start it with: cxltier run -- COMMAND";
    case Preloaded::unknown:
      break;
  }
  return who + " belongs to another user and cannot be looked at; run as that user or as root";
}

}  // namespace

std::optional<std::uint32_t> parse_pid(const std::string& text) {
  std::uint32_t pid = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, pid);
  if (error != std::errc{} || stop != end || pid == 0 || pid > 0x7fff'ffff) return std::nullopt;
  return pid;
}

std::optional<double> parse_seconds(const std::string& text, double otherwise) {
  if (text.empty()) return otherwise;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if (!(seconds >= seconds_min && seconds <= seconds_max)) return std::nullopt;
  return seconds;
}

std::string program_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name.empty() ? "?" : name;
}

PageFailure find_page(std::uint32_t pid, TelemetryPage& page) {
  SearchPlace place;
  place.runtime_folder = std::getenv("XDG_RUNTIME_DIR");
  const PageFailure failure = find_telemetry_page(pid, place, page);
  if (failure != PageFailure::absent && failure != PageFailure::stale) return failure;
  // It may have been started with another folder than ours.
  const std::string folder = variable_of(pid, "XDG_RUNTIME_DIR");
  if (folder.empty()) return failure;
  place.runtime_folder = folder.c_str();
  return find_telemetry_page(pid, place, page);
}

std::string fault_of(std::uint32_t pid, PageFailure failure) {
  const std::string who = fmt::format("process {} ({})", pid, program_of(pid));
  switch (failure) {
    case PageFailure::none:
      return {};
    case PageFailure::no_process:
      return fmt::format("there is no process {}; find the right one with pidof or pgrep", pid);
    case PageFailure::absent:
    case PageFailure::stale:  // of an earlier process with its number, or of before an exec
      return fault_without_page(who, pid);
    case PageFailure::forbidden:
      return who + ": no permission to read its telemetry; run as its user or as root";
    case PageFailure::untrusted:
      if (has_library(pid) == Preloaded::no) return fault_without_page(who, pid);
      return who +
             ": its telemetry folder is a link, or not its user's alone, so that others could put "
             "figures there; remove it (cxltier in XDG_RUNTIME_DIR, or /dev/shm/cxltier-UID) and "
             "restart the program";
    case PageFailure::damaged:
      return who + ": its telemetry page is damaged; it is made anew when the program restarts";
    case PageFailure::busy:
      return who +
             ": its telemetry page is in the middle of an update that does not end; the "
             "process is stopped (continue it) or its controller was killed (restart it)";
  }
  return who + ": unknown failure";
}

}  // namespace cxltier
