// SPDX-License-Identifier: Apache-2.0
//
// The verb `doctor`: why is my CXL memory not there, and is it as fast as it should be?
//
// Exit codes: 0 no failure (warnings are no failure), 1 failures or the output could not be
// written, 2 usage, 3 nothing could be looked at.
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cli/device_health.h"
#include "runtime/cli/kernel_log.h"
#include "runtime/cli/machine_source.h"
#include "runtime/cli/verb.h"
#include "runtime/doctor/report.h"

namespace cxltier {
namespace {

constexpr int exit_blind = 3;

struct DoctorOptions {
  SourceOptions source;
  std::string junit;
  bool json = false;
  bool all = false;
};

int doctor(const DoctorOptions& options) {
  std::optional<MachineSource> source = MachineSource::open(options.source, "doctor");
  if (!source) return exit_usage;
  const bool is_snapshot = source->is_snapshot();
  Platform platform =
      read_platform(source->tree(), {is_snapshot, is_snapshot ? std::string() : read_kernel_log()});
  if (!is_snapshot) add_device_health(platform);
  const DoctorReport report = diagnose(platform);
  if (report.is_blind) {
    complain(fmt::format("doctor: nothing to look at below {}: {}", options.source.root,
                         is_snapshot
                             ? "give --root the folder that holds a machine's sys/ and proc/"
                             : "is sysfs mounted?"));
    return exit_blind;
  }
  if (!options.junit.empty() && !write_whole_file(options.junit, junit_of(report))) {
    complain(
        fmt::format("doctor: --junit: cannot write {}: {}", options.junit, std::strerror(errno)));
    return exit_failed;
  }
  const std::string text =
      options.json ? json_of(report)
                   : text_of(report, options.all ? Detail::everything : Detail::problems);
  if (print_data(text) != exit_ok) return exit_failed;
  return report.worst() == CheckState::fail ? exit_failed : exit_ok;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = app.add_subcommand(
      "doctor", "Say why CXL memory is missing or slow, from firmware to tiering, and what to do");
  verb->add_flag("--json", options->json, "Print JSON instead of text");
  verb->add_flag("--all", options->all, "Print the evidence of every check, and those skipped");
  verb->add_option("--junit", options->junit, "Write JUnit XML to FILE as well")->type_name("FILE");
  add_source_options(*verb, options->source);
  verb->callback([options, &exit_code] { exit_code = doctor(*options); });
}

}  // namespace cxltier
