// SPDX-License-Identifier: Apache-2.0
//
// The verb `topo`: which memory the machine has, and which tiers a process started here sees.
#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/cli/device_health.h"
#include "runtime/cli/machine_source.h"
#include "runtime/cli/saved_profile.h"
#include "runtime/cli/topo_view.h"
#include "runtime/cli/verb.h"
#include "runtime/topology/node_cpus.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tier_text.h"

namespace cxltier {
namespace {

struct TopoOptions {
  SourceOptions source;
  std::vector<std::string> compared;  // --diff A B
  std::optional<unsigned> watch_seconds;
  std::optional<std::string> tiers;
  std::optional<std::string> profile;
  bool json = false;
  bool svg = false;
  bool io = false;
};

std::string cpu_list_of(const CpuSet& cpus) {
  std::string list;
  for (std::size_t first = 0; first < cpu_ids_max; ++first) {
    if (!cpus[first]) continue;
    std::size_t last = first;
    while (last + 1 < cpu_ids_max && cpus[last + 1]) ++last;
    if (!list.empty()) list += ',';
    list += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return list;
}

// The online CPUs of each node, by position; a CPU of two nodes is the first one's, as in
// cpu_count.
std::vector<std::string> read_cpu_lists(FileTree& tree, const Machine& machine) {
  const std::optional<CpuSet> online = cpus_online(tree);
  std::vector<std::string> lists;
  CpuSet seen;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    CpuSet cpus = cpus_of_node(tree, machine.nodes[i].id).value_or(CpuSet{});
    if (online) cpus &= *online;
    lists.push_back(cpu_list_of(cpus & ~seen));
    seen |= cpus;
  }
  return lists;
}

void complain_unreadable(const TopoOptions& options, int error) {
  const std::string cause = std::system_category().message(error);
  const std::string folder = options.source.root == "/"
                                 ? "/sys/devices/system/node"
                                 : options.source.root + "/sys/devices/system/node";
  const char* fix = options.source.root == "/"
                        ? "is sysfs mounted, and does the kernel have CONFIG_NUMA?"
                        : "give --root the folder that holds a machine's sys/ and proc/";
  complain(fmt::format("topo: cannot read {}: {}; {}", folder, cause, fix));
}

// The tiers that the user gave; false after a complaint that names the word and the known nodes.
bool set_tiers(const std::string& spec, const Machine& machine, TierMap& tiers) {
  const ParsedTiers parsed = parse_tiers(spec, machine);
  tiers = parsed.tiers;
  if (parsed.ok()) return true;
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].size.count > 0) nodes.push_back(index_of(machine.nodes[i].id));
  }
  complain(fmt::format(
      "topo: --tiers: '{}' {}; write the fastest tier first, as in '0,1;2'; nodes with memory: {}",
      parsed.word, text_of(parsed.fault), fmt::join(nodes, ", ")));
  return false;
}

// Of a snapshot only the profile that lies in it: one of this machine says nothing about another.
bool set_places(const TopoOptions& options, Settings& settings) {
  const EnvironmentReport ignored = settings_from(environ, settings);
  static_cast<void>(ignored);
  if (options.source.root != "/" || !options.source.files.empty())
    settings.profile = settings.profile_own = {};
  if (!options.profile) return true;
  const SettingsError error = set_profile(settings, *options.profile);
  if (error.ok()) return true;
  complain(fmt::format("topo: --profile: {} '{}'; {}", error.problem, error.word, error.expected));
  return false;
}

int print_view(const TopoOptions& options, MachineSource& source) {
  FileTree& tree = source.tree();
  Result<TopoView> read = read_topo(tree, options.io ? IoDetail::devices : IoDetail::none);
  if (!read.ok()) {
    complain_unreadable(options, read.error());
    return exit_failed;
  }
  TopoView view = read.value();
  if (!source.is_snapshot()) add_device_health(view.platform);
  Settings settings;
  if (!set_places(options, settings)) return exit_usage;
  view.profile = use_profile(tree, settings, view.reading.machine, "topo");
  // What was measured may rank the nodes otherwise than firmware does.
  view.tiers = assign_tiers(view.reading.machine, view.own);
  if (options.tiers && !set_tiers(*options.tiers, view.reading.machine, view.tiers))
    return exit_usage;
  if (options.svg) return print_data(picture_of(view));
  return print_data(options.json ? json_of(view) : table_of(view));
}

// A folder that holds sys/ and proc/, or a file for --from.
std::optional<TopoView> view_of(const std::string& where, const TopoOptions& options) {
  SourceOptions chosen;
  struct stat status {};
  const bool is_folder = ::stat(where.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  (is_folder ? chosen.root : chosen.files.emplace_back()) = where;
  std::optional<MachineSource> source = MachineSource::open(chosen, "topo");
  if (!source) return std::nullopt;
  Result<TopoView> view =
      read_topo(source->tree(), options.io ? IoDetail::devices : IoDetail::none);
  if (view.ok()) return view.value();
  complain(
      fmt::format("topo: --diff: {} holds no nodes: {}; give a folder with sys/ and proc/, or an "
                  "archive of 'cxltier collect'",
                  where, std::system_category().message(view.error())));
  return std::nullopt;
}

int compare(const TopoOptions& options) {
  const std::optional<TopoView> before = view_of(options.compared[0], options);
  const std::optional<TopoView> after =
      before ? view_of(options.compared[1], options) : std::nullopt;
  if (!before || !after) return exit_failed;
  const std::string difference = difference_of(*before, *after);
  return print_data(difference.empty() ? "no difference\n" : difference);
}

// Prints what changes, until it is interrupted or stdout is closed.
int watch(const TopoOptions& options, FileTree& tree) {
  std::optional<TopoView> last;
  for (;;) {
    Result<TopoView> now = read_topo(tree, options.io ? IoDetail::devices : IoDetail::none);
    if (!now.ok()) {
      complain_unreadable(options, now.error());
      return exit_failed;
    }
    const std::string text = last ? difference_of(*last, now.value()) : table_of(now.value());
    if (!text.empty() && print_data(text) != exit_ok) return exit_failed;
    last = now.value();
    ::sleep(*options.watch_seconds);
  }
}

int topo(const TopoOptions& options) {
  if (!options.compared.empty()) return compare(options);
  std::optional<MachineSource> source = MachineSource::open(options.source, "topo");
  if (!source) return exit_usage;
  if (options.watch_seconds) return watch(options, source->tree());
  return print_view(options, *source);
}

}  // namespace

Result<TopoView> read_topo(FileTree& tree, IoDetail io) {
  PlatformOptions parts;
  parts.skips_blocks = true;
  TopoView view;
  view.platform = read_platform(tree, parts);
  if (!view.platform.reading) return Error{view.platform.reading_error};
  view.reading = *view.platform.reading;
  const Machine& machine = view.reading.machine;
  view.own = read_process_nodes(tree).value_or(ProcessNodes{}).own;
  view.tiers = assign_tiers(machine, view.own);
  view.cpu_lists = read_cpu_lists(tree, machine);
  view.memory_devices = read_cxl_memory(tree, machine);
  if (io == IoDetail::devices) {
    view.shows_io = true;
    view.io = read_io_devices(tree, view.platform.pci);
  }
  return view;
}

void add_topo(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* verb = app.add_subcommand("topo", "Show memory nodes, their kinds and tiers");
  CLI::Option* json = verb->add_flag("--json", options->json, "Print JSON instead of a table");
  CLI::Option* svg =
      verb->add_flag("--svg", options->svg, "Print a picture, an SVG document")->excludes(json);
  verb->add_flag("--io", options->io, "Show network cards, disks and accelerators too");
  add_source_options(*verb, options->source);
  verb->add_option("--diff", options->compared, "Compare two snapshots, folders or archives")
      ->expected(2)
      ->excludes(json)
      ->excludes(svg)
      ->type_name("A B");
  verb->add_option("--watch", options->watch_seconds, "Print what changes, looking every SECONDS")
      ->check(CLI::Range(1u, 3600u))
      ->excludes(json)
      ->excludes(svg)
      ->type_name("SECONDS");
  verb->add_option("--tiers", options->tiers, "Set the tiers, fastest first: '0,1;2' or '0-1/2'")
      ->type_name("SPEC");
  verb->add_option("--profile", options->profile,
                   "Machine profile that cxltier bench saved, or none (default: the saved one)")
      ->type_name("FILE")
      ->transform(profile_word);
  verb->callback([options, &exit_code] { exit_code = topo(*options); });
}

}  // namespace cxltier
