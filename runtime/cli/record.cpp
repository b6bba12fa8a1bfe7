// SPDX-License-Identifier: Apache-2.0
//
// The verb `record`: follows the telemetry page of a process and writes its heat as a trace.
//
// The program is looked at by cxltier's own controller inside it; nothing is added to it.  A
// program that `record` starts runs under `cxltier run` with the policy first-touch, which moves
// nothing, unless CXLTIER_POLICY says otherwise.
#include <CLI/CLI.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/simulator/trace.h"
#include "runtime/cli/process_page.h"
#include "runtime/cli/verb.h"

namespace cxltier {
namespace {

struct RecordOptions {
  std::string pid;
  std::string out;
  std::string interval;
  std::string seconds;
  double stall_percent = -1;
  double stall_doubt = 5;
  double bandwidth_gbps = -1;
};

volatile sig_atomic_t interrupted = 0;

void pause_for(double seconds) {
  const double whole = std::floor(seconds);
  const timespec pause{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  ::nanosleep(&pause, nullptr);  // an interruption ends the recording
}

std::uint64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// A page as a frame; moves since the start are told as moves since the last frame.
class Recorder {
 public:
  explicit Recorder(simulator::HeatTrace& trace) : trace_(trace), started_ms_(monotonic_ms()) {}

  void note(const TelemetryPage& page) {
    if (page.ticks == ticks_ && !trace_.frames.empty()) return;  // no scan since
    ticks_ = page.ticks;
    trace_.page_size = std::max<std::uint64_t>(page.page_size, 1024);
    trace_.tier_count =
        std::max<std::size_t>(trace_.tier_count, std::min<std::size_t>(page.tier_count, tiers_max));
    simulator::TraceFrame frame;
    frame.time_ms = monotonic_ms() - started_ms_ + 1;
    for (std::size_t t = 0; t < page.tier_count; ++t) frame.pages[t] = page.tiers[t].pages;
    const std::uint64_t moved = page.pages_promoted + page.pages_demoted;
    frame.moved_pages = trace_.frames.empty() || moved < moved_ ? 0 : moved - moved_;
    moved_ = moved;
    frame.heat = page.heat;
    frame.window_us = page.window_ns / 1000;
    trace_.frames.push_back(frame);
  }

 private:
  simulator::HeatTrace& trace_;
  std::uint64_t started_ms_;
  std::uint64_t ticks_ = 0;
  std::uint64_t moved_ = 0;
};

// Whether there is anything to rank by: before its first scan a page says nothing of heat.
bool has_heat(const TelemetryPage& page) {
  return std::any_of(page.heat_histogram.begin(), page.heat_histogram.end(),
                     [](std::uint64_t pages) { return pages > 0; });
}

enum class Child : std::uint8_t { none, lives, ended };

Child state_of(pid_t child) {
  if (child <= 0) return Child::none;
  return ::waitpid(child, nullptr, WNOHANG) == 0 ? Child::lives : Child::ended;
}

// Until the time is over, the process ends or somebody presses Ctrl-C.  A child may take its time
// until it has a page; of another process the page must be there.  Returns what was wrong.
std::string follow(std::uint32_t pid, pid_t child, const RecordOptions& options,
                   simulator::HeatTrace& trace) {
  const double interval = *parse_seconds(options.interval, 1);
  const double seconds = *parse_seconds(options.seconds, 86'400);
  const std::uint64_t end = monotonic_ms() + static_cast<std::uint64_t>(seconds * 1000);
  Recorder recorder(trace);
  PageFailure failure = PageFailure::absent;
  TelemetryPage page;
  while (interrupted == 0 && monotonic_ms() < end) {
    const Child state = state_of(child);
    failure = find_page(pid, page);
    if (failure == PageFailure::none) {
      trace.program = program_of(pid);
      if (has_heat(page)) recorder.note(page);
    }
    const bool is_gone = failure == PageFailure::no_process || state == Child::ended;
    const bool may_wait = failure == PageFailure::none || failure == PageFailure::busy ||
                          (state == Child::lives && failure != PageFailure::forbidden &&
                           failure != PageFailure::untrusted);
    if (is_gone || !may_wait) break;
    pause_for(interval);
  }
  if (!trace.frames.empty()) return {};
  if (page.reason[0] != 0) {
    return fmt::format("cxltier does not look at process {}: {}", pid, page.reason.data());
  }
  if (failure == PageFailure::none) {
    return fmt::format("process {} was not looked at in this time; record it for longer", pid);
  }
  if (child > 0) {
    return "the program ended before cxltier had looked at its heap; see CXLTIER_START";
  }
  return fault_of(pid, failure);
}

// Starts `cxltier run -- COMMAND`; the number of the process, which is the program's too.
pid_t start(std::span<char* const> command) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("CXLTIER_POLICY", "first-touch", 0);
  std::vector<char*> words;
  static char self[] = "cxltier";
  static char verb[] = "run";
  static char mark[] = "--";
  words.insert(words.end(), {self, verb, mark});
  words.insert(words.end(), command.begin(), command.end());
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());
  complain(fmt::format("record: cannot start: {}", std::strerror(errno)));
  ::_exit(127);
}

void stop(pid_t child) {
  if (child <= 0) return;
  ::kill(child, SIGTERM);
  ::waitpid(child, nullptr, 0);
}

int write_out(const RecordOptions& options, const std::string& text) {
  if (options.out.empty() || options.out == "-") return print_data(text);
  std::ofstream file(options.out, std::ios::binary);
  file << text;
  if (file.flush()) return exit_ok;
  complain(
      fmt::format("record: cannot write {}; name a file in a folder that is yours", options.out));
  return exit_failed;
}

int record(const RecordOptions& options, std::span<char* const> command) {
  const std::optional<std::uint32_t> pid =
      options.pid.empty() ? std::optional<std::uint32_t>(0) : parse_pid(options.pid);
  if (!pid || (options.pid.empty() == command.empty())) {
    complain("record: give either a process number or, after --, a command");
    return exit_usage;
  }
  if (!parse_seconds(options.interval, 1) || !parse_seconds(options.seconds, 1)) {
    complain("record: --interval and --seconds are numbers from 0.01 to 86400");
    return exit_usage;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  const pid_t child = command.empty() ? 0 : start(command);
  if (child < 0) {
    complain(fmt::format("record: cannot start a process: {}", std::strerror(errno)));
    return exit_failed;
  }
  simulator::HeatTrace trace;
  if (options.stall_percent >= 0) {
    trace.stall_share = options.stall_percent / 100;
    trace.stall_uncertainty = options.stall_doubt / 100;
  }
  if (options.bandwidth_gbps >= 0) trace.bandwidth_gbps = options.bandwidth_gbps;
  const std::uint32_t followed = child > 0 ? static_cast<std::uint32_t>(child) : *pid;
  const std::string fault = follow(followed, child, options, trace);
  if (state_of(child) == Child::lives) stop(child);
  if (!fault.empty()) {
    complain("record: " + fault);
    return exit_failed;
  }
  return write_out(options, simulator::write_trace(trace));
}

}  // namespace

void add_record(CLI::App& app, int& exit_code, std::span<char* const> command) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* verb = app.add_subcommand("record", "Write the heat of a process as a trace");
  verb->add_option("pid", options->pid, "The process; or a command after --")->type_name("PID");
  verb->add_option("--out", options->out, "Where to; default: stdout")->type_name("FILE");
  verb->add_option("--interval", options->interval, "Seconds between looks (default 1)");
  verb->add_option("--seconds", options->seconds, "For how long (default: until it ends)");
  verb->add_option("--stall", options->stall_percent,
                   "Share of its time that it waits for memory, if known: perf stat tells")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PERCENT");
  verb->add_option("--stall-doubt", options->stall_doubt, "How far that may be off (default 5)")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PERCENT");
  verb->add_option("--bandwidth", options->bandwidth_gbps, "What it draws, if known")
      ->check(CLI::Range(0.0, 10'000.0))
      ->type_name("GB/s");
  verb->footer("A command follows after --: cxltier record --out FILE -- COMMAND [ARGS]");
  verb->callback([command, options, &exit_code] {
    const bool marked = !command.empty() && std::string_view(command.front()) == "--";
    exit_code = record(*options, command.subspan(marked ? 1 : 0));
  });
}

}  // namespace cxltier
