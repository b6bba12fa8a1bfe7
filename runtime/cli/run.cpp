// SPDX-License-Identifier: Apache-2.0
//
// The verb `run`: starts a program with the preload library and the settings in its environment.
//
//   options ----+
//   CXLTIER_* --+--> Settings --> CXLTIER_*, LD_PRELOAD --> exec
//   defaults ---+
//
// What the user wrote wrongly on the command line stops here; what this machine or this program
// cannot do is said in one line on stderr, and the program runs.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/program_file.h"
#include "runtime/cli/saved_profile.h"
#include "runtime/cli/verb.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/settings/settings.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tier_text.h"

namespace cxltier {
namespace {

constexpr int exit_not_executable = 126;  // as shells and env(1) do
constexpr int exit_not_found = 127;
constexpr const char* library_name = "libcxltier-preload.so";

struct RunOptions {
  std::optional<std::string> policy;
  std::vector<std::string> limits;
  std::optional<std::string> tiers;
  std::optional<std::string> start;
  std::optional<std::string> profile;
  std::optional<std::string> log;
};

using Setter = SettingsError (*)(Settings&, std::string_view) noexcept;

// Sets one option's value; false, after a complaint, if it is wrong.
bool apply(Settings& settings, Setter set, const char* option, const std::string& text) {
  const SettingsError error = set(settings, text);
  if (error.ok()) return true;
  complain(fmt::format("run: {} {}: {} '{}'; {}", option, text, error.problem, error.word,
                       error.expected));
  return false;
}

bool apply_options(Settings& settings, const RunOptions& options) {
  bool right = true;
  const auto apply_one = [&](Setter set, const char* option, const auto& text) {
    if (text) right = apply(settings, set, option, *text) && right;
  };
  apply_one(set_policy, "--policy", options.policy);
  apply_one(set_tiers, "--tiers", options.tiers);
  apply_one(set_start, "--start", options.start);
  apply_one(set_profile, "--profile", options.profile);
  apply_one(set_log, "--log", options.log);
  for (const std::string& limit : options.limits) {
    right = apply(settings, set_limit, "--limit", limit) && right;
  }
  return right;
}

// A wrong variable is named, and its default used, unless the command line sets it anyway.
void apply_environment(Settings& settings, const RunOptions& options) {
  const EnvironmentReport report = settings_from(environ, settings);
  for (std::size_t i = 0; i < report.wrong_count; ++i) {
    const std::string_view name = report.wrong[i].name;
    const bool overridden =
        (name == "CXLTIER_POLICY" && options.policy) ||
        (name == "CXLTIER_TIERS" && options.tiers) || (name == "CXLTIER_START" && options.start) ||
        (name == "CXLTIER_PROFILE" && options.profile) || (name == "CXLTIER_LOG" && options.log);
    if (overridden) continue;
    std::array<char, 400> line{};
    format_wrong(report.wrong[i], line);
    fmt::print(stderr, "{}\n", line.data());
  }
}

void set_variable(const char* name, const std::string& value) {
  if (value.empty()) {
    ::unsetenv(name);
  } else {
    ::setenv(name, value.c_str(), 1);
  }
}

void export_settings(const Settings& settings) {
  std::array<char, limits_text_max> limits{};
  format_limits(settings, limits);
  set_variable("CXLTIER_POLICY", std::string(name_of(settings.policy)));
  set_variable("CXLTIER_LIMIT", limits.data());
  set_variable("CXLTIER_TIERS", settings.tiers.data());
  set_variable("CXLTIER_START", std::to_string(settings.start_heap.count));
  set_variable("CXLTIER_PROFILE", settings.profile.data());
  set_variable("CXLTIER_LOG", name_of(settings.log));
}

// The library's path; empty, after a complaint, if the loader would end the program over it.
std::string whole_library(const std::string& path) {
  const std::string fault = why_no_library(path);
  if (fault.empty()) return path;
  complain(
      fmt::format("run: {} {}: the program runs untouched; build or install it anew, or set "
                  "CXLTIER_PRELOAD_PATH",
                  path, fault));
  return {};
}

// The library: where CXLTIER_PRELOAD_PATH says (a file or its folder), else near this command, as
// it lies after a build and after an installation.  Empty, after a complaint, if it is nowhere: the
// program then runs without it.
std::string find_library() {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> places;
  if (const char* given = std::getenv("CXLTIER_PRELOAD_PATH"); given != nullptr && *given != '\0') {
    places = {fs::is_directory(given, error) ? fs::path(given) / library_name : fs::path(given)};
  } else {
    const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
    places = {prefix / "lib" / library_name, prefix / CXLTIER_LIBDIR / library_name};
  }
  std::string looked;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, error))
      return whole_library(fs::absolute(place, error).string());
    if (looked.find(place.string()) != std::string::npos) continue;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  complain(
      fmt::format("run: {} is not at {}: the program runs untouched; build or install it, or set "
                  "CXLTIER_PRELOAD_PATH",
                  library_name, looked));
  return {};
}

// Puts the library in front of LD_PRELOAD, unless its path cannot stand there.
void export_preload(const std::string& library) {
  if (library.find_first_of(" :") != std::string::npos) {
    complain(
        fmt::format("run: LD_PRELOAD cannot hold the path {}, which has a blank or a colon: the "
                    "program runs untouched; copy the library and set CXLTIER_PRELOAD_PATH",
                    library));
    return;
  }
  const char* earlier = std::getenv("LD_PRELOAD");
  const std::string rest = earlier == nullptr ? "" : earlier;
  const bool there = rest == library || rest.starts_with(library + ":");
  set_variable("LD_PRELOAD", there ? rest : rest.empty() ? library : library + ":" + rest);
}

std::string nodes_of_tier(const Machine& machine, const TierMap& tiers, std::size_t tier) {
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (index_of(tiers.tier_of[i]) != tier) continue;
    list += fmt::format("{}{}", count++ == 0 ? "" : ", ", index_of(machine.nodes[i].id));
  }
  return fmt::format("{} {}", count == 1 ? "node" : "nodes", list);
}

bool has_kind(const Machine& machine, const TierMap& tiers, NodeKind kind) {
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].kind == kind && tiers.tier_of[i] != tier_none) return true;
  }
  return false;
}

void warn_of_absent_tiers(const Settings& settings, const Machine& machine, const TierMap& tiers) {
  const auto warn = [](const std::string& word) {
    complain(fmt::format("run: this machine has no tier '{}'; that limit has no effect", word));
  };
  if (settings.limit_dram && !has_kind(machine, tiers, NodeKind::dram)) warn("dram");
  if (settings.limit_cxl && !has_kind(machine, tiers, NodeKind::cxl)) warn("cxl");
  for (std::size_t tier = tiers.tier_count; tier < settings.limit_tier.size(); ++tier) {
    if (settings.limit_tier[tier]) warn(fmt::format("tier{}", tier));
  }
}

// The tiers that the settings name, or the machine's own.  A wrong name is the user's error on the
// command line, and one line in the environment.
std::optional<TierMap> choose_tiers(Settings& settings, const Machine& machine, FileTree& tree,
                                    const RunOptions& options) {
  const TierMap own = assign_tiers(machine, read_process_nodes(tree).value_or(ProcessNodes{}).own);
  if (settings.tiers.front() == '\0') return own;
  const ParsedTiers parsed = parse_tiers(settings.tiers.data(), machine);
  if (parsed.ok()) return parsed.tiers;
  const char* where = options.tiers ? "--tiers " : "CXLTIER_TIERS=";
  complain(fmt::format("run: {}{}: '{}' {}; see cxltier topo", where, settings.tiers.data(),
                       parsed.word, text_of(parsed.fault)));
  if (options.tiers) return std::nullopt;
  settings.tiers = {};
  return own;
}

// The program is told which profile was found good, or that none is, so that it need not look
// again.
void resolve_profile(Settings& settings, Machine& machine, FileTree& tree) {
  const ProfileReading found = use_profile(tree, settings, machine, "run");
  const bool nothing = found.fault == ProfileFault::absent && settings.profile.front() == '\0';
  if (nothing) return;
  const std::string used = found.ok() ? found.path : "none";  // may lie in `settings`
  const SettingsError error = set_profile(settings, used);
  if (!error.ok()) settings.profile = {};
}

// Says what this machine lacks; false if the command line is wrong for it.
bool compare_with_machine(Settings& settings, const RunOptions& options) {
  FileTreeLinux tree("/");
  const Result<Reading> reading = read_machine(tree);
  if (!reading.ok()) {
    complain(
        fmt::format("run: cannot read this machine's memory nodes ({}): the program runs "
                    "untouched",
                    std::strerror(reading.error())));
    return true;
  }
  Machine machine = reading.value().machine;
  resolve_profile(settings, machine, tree);
  const std::optional<TierMap> tiers = choose_tiers(settings, machine, tree, options);
  if (!tiers) return false;
  warn_of_absent_tiers(settings, machine, *tiers);
  if (tiers->tier_count == 1 && settings.log != LogLevel::off) {
    complain(fmt::format("one memory tier only ({}): the program runs untouched",
                         nodes_of_tier(machine, *tiers, 0)));
  }
  return true;
}

// The cause behind the kernel's answer, where that alone would mislead.
std::string cause_of(const std::string& path, int error) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "is a folder; name the program in it";
  if (error == ENOENT && std::filesystem::exists(path, ignored)) {
    return "is there, but the interpreter or loader that its first bytes name is not; install that";
  }
  const bool absent = error == ENOENT || error == ENOTDIR || error == ELOOP;
  return fmt::format(
      "{}; {}", std::strerror(error),
      absent ? "check the name and PATH" : "check that it is a program and its mode");
}

int complain_of_program(const std::string& name, const std::string& path, int error) {
  complain(fmt::format("run: '{}': {}", name, cause_of(path.empty() ? name : path, error)));
  return error == ENOENT || error == ENOTDIR ? exit_not_found : exit_not_executable;
}

// Returns only if the program could not be started.
int execute(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(path.c_str(), words.data());
  if (errno == ENOEXEC) {  // a script without "#!": the shell's, as execvp has it
    words.front() = const_cast<char*>(path.c_str());
    words.insert(words.begin(), const_cast<char*>("sh"));
    ::execv("/bin/sh", words.data());
  }
  return complain_of_program(command.front(), path, errno);
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    complain(
        "run: no command to run; use: cxltier run [--policy P] [--limit TIER=SIZE]... "
        "[--tiers SPEC] [--start SIZE] [--profile FILE] [--log LEVEL] -- COMMAND...");
    return exit_usage;
  }
  Settings settings;
  apply_environment(settings, options);
  if (!apply_options(settings, options)) return exit_usage;

  const char* search_path = std::getenv("PATH");
  const FoundProgram program =
      find_program(command.front(), search_path == nullptr ? "/bin:/usr/bin" : search_path);
  if (program.error != 0) {
    return complain_of_program(command.front(), program.path, program.error);
  }
  if (!compare_with_machine(settings, options)) return exit_usage;
  const std::string fault = why_not_preloadable(program.path);
  if (!fault.empty()) {
    complain(fmt::format("{} {}: the program runs untouched", command.front(), fault));
  }
  const std::string library = find_library();
  if (!library.empty()) export_preload(library);
  export_settings(settings);
  return execute(program.path, command);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code, std::span<char* const> command) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Run a program with its memory placed by cxltier");
  verb->add_option("--policy", options->policy,
                   "hot-cold (default), balance, capacity, or first-touch: observe only")
      ->take_last();
  verb->add_option("--limit", options->limits,
                   "At most SIZE of memory on a tier: dram=64M; the last one for a tier counts")
      ->type_name("TIER=SIZE")
      ->allow_extra_args(false);
  verb->add_option("--tiers", options->tiers, "Set the tiers, fastest first: '0,1;2' or '0-1/2'")
      ->type_name("SPEC")
      ->take_last();
  verb->add_option("--start", options->start, "Heap size at which cxltier starts (default 8M)")
      ->type_name("SIZE")
      ->take_last();
  verb->add_option("--profile", options->profile,
                   "Machine profile that cxltier bench saved, or none (default: the saved one)")
      ->type_name("FILE")
      ->transform(profile_word)
      ->take_last();
  verb->add_option("--log", options->log, "What cxltier writes to stderr: off, errors or all")
      ->take_last();
  verb->footer("The program and its arguments follow: cxltier run [OPTIONS] -- COMMAND [ARGS]");
  verb->callback([command, options, &exit_code] {
    const bool marked = !command.empty() && std::string_view(command.front()) == "--";
    const auto words = command.subspan(marked ? 1 : 0);
    exit_code = run(*options, {words.begin(), words.end()});
  });
}

// Not left to CLI11, which takes arguments such as "[a,b]" apart and differs between versions in
// what it does after "--".  Every option of `run` has one value, but for --help.
std::size_t count_own_words(std::span<char* const> words) {
  if (words.size() > 2 && std::string_view(words[1]) == "bench") return 2;
  if (words.size() > 1 && std::string_view(words[1]) == "record") {
    const auto marks = [](const char* word) { return std::string_view(word) == "--"; };
    return static_cast<std::size_t>(std::find_if(words.begin(), words.end(), marks) -
                                    words.begin());
  }
  if (words.size() < 2 || std::string_view(words[1]) != "run") return words.size();
  std::size_t at = 2;
  while (at < words.size()) {
    const std::string_view word(words[at]);
    if (word == "--" || !word.starts_with('-')) return at;
    const bool alone = word == "-h" || word == "--help" || word.find('=') != word.npos;
    at += alone ? 1 : 2;
  }
  return words.size();
}

}  // namespace cxltier
