// SPDX-License-Identifier: Apache-2.0
//
// The verb `stat`: shows the telemetry page of one process, once or again and again, and says
// precisely why there is none.
#include <CLI/CLI.hpp>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cli/process_page.h"
#include "runtime/cli/stat_view.h"
#include "runtime/cli/verb.h"

namespace cxltier {
namespace {

struct StatOptions {
  std::string pid;
  std::string seconds;
  bool json = false;
  bool watch = false;
};

volatile sig_atomic_t interrupted = 0;

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

PageFailure look(std::uint32_t pid, StatView& view) {
  const PageFailure failure = find_page(pid, view.page);
  view.pid = pid;
  view.program = program_of(pid);
  view.now_ns = monotonic_ns();
  return failure;
}

int show(const StatView& view, const StatOptions& options) {
  if (options.json) {
    return print_data(stat_json_of(view, options.watch ? JsonForm::one_line : JsonForm::indented));
  }
  const bool repaint = options.watch && ::isatty(STDOUT_FILENO) == 1;
  return print_data((repaint ? "\x1b[H\x1b[2J" : "") + stat_text_of(view) +
                    (options.watch && !repaint ? "\n" : ""));
}

void pause_for(double seconds) {
  const double whole = std::floor(seconds);
  const timespec pause{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  ::nanosleep(&pause, nullptr);  // an interruption ends the watch
}

// Until the process ends or somebody presses Ctrl-C.  A page that is busy for once is passed over.
int watch(std::uint32_t pid, const StatOptions& options, double seconds) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  while (interrupted == 0) {
    pause_for(seconds);
    StatView view;
    const PageFailure failure = interrupted == 0 ? look(pid, view) : PageFailure::busy;
    if (failure == PageFailure::busy) continue;
    if (failure != PageFailure::none) return exit_ok;
    const int status = show(view, options);
    if (status != exit_ok) return status;
  }
  return exit_ok;
}

int stat(const StatOptions& options) {
  const std::optional<std::uint32_t> pid = parse_pid(options.pid);
  if (!pid) {
    complain(fmt::format("stat: '{}' is not a process number; find it with pidof or pgrep",
                         options.pid));
    return exit_usage;
  }
  const std::optional<double> seconds = parse_seconds(options.seconds, 1.0);
  if (!seconds) {
    complain(fmt::format("stat: --watch {}: not a number of seconds from 0.01 to 86400",
                         options.seconds));
    return exit_usage;
  }
  StatView view;
  const PageFailure failure = look(*pid, view);
  if (failure != PageFailure::none) {
    complain("stat: " + fault_of(*pid, failure));
    return exit_failed;
  }
  const int status = show(view, options);
  return options.watch && status == exit_ok ? watch(*pid, options, *seconds) : status;
}

}  // namespace

std::uint64_t bytes_of_pages(const StatView& view, std::uint64_t pages) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(pages, view.page.page_size, &bytes) ? ~std::uint64_t{0} : bytes;
}

double cpu_share_of(const StatView& view) {
  const TelemetryPage& page = view.page;
  if (page.started_ns == 0 || view.now_ns <= page.started_ns) return 0;
  return static_cast<double>(page.thread_cpu_ns) /
         static_cast<double>(view.now_ns - page.started_ns);
}

std::uint64_t age_ms_of(const StatView& view) {
  const std::uint64_t updated = view.page.updated_ns;
  return updated == 0 || view.now_ns <= updated ? 0 : (view.now_ns - updated) / 1'000'000;
}

std::uint64_t over_limit_pages_max(const TelemetryPage& page) {
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < page.tier_count; ++i) {
    most = std::max(most, page.tiers[i].over_limit_pages_max);
  }
  return most;
}

void add_stat(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StatOptions>();
  CLI::App* verb = app.add_subcommand("stat", "Show what cxltier does in a process");
  verb->add_option("pid", options->pid, "The process")->required()->type_name("PID");
  verb->add_flag("--json", options->json, "Print JSON; with --watch one object per line");
  CLI::Option* watch = verb->add_option("--watch", options->seconds,
                                        "Again every second, or every SECONDS, until it ends");
  watch->expected(0, 1)->type_name("SECONDS");
  verb->callback([options, watch, &exit_code] {
    options->watch = watch->count() > 0;
    exit_code = stat(*options);
  });
}

}  // namespace cxltier
