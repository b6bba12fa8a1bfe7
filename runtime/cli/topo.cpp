// SPDX-License-Identifier: Apache-2.0
//
// The verb `topo`: which memory the machine has, and which tiers a process started here sees.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/cli/saved_profile.h"
#include "runtime/cli/topo_view.h"
#include "runtime/cli/verb.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/node_cpus.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tier_text.h"

namespace cxltier {
namespace {

struct TopoOptions {
  std::string root = "/";
  std::optional<std::string> tiers;
  std::optional<std::string> profile;
  bool json = false;
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
  const std::string folder =
      options.root == "/" ? "/sys/devices/system/node" : options.root + "/sys/devices/system/node";
  const char* fix = options.root == "/"
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
  if (options.root != "/") settings.profile = settings.profile_own = {};
  if (!options.profile) return true;
  const SettingsError error = set_profile(settings, *options.profile);
  if (error.ok()) return true;
  complain(fmt::format("topo: --profile: {} '{}'; {}", error.problem, error.word, error.expected));
  return false;
}

int topo(const TopoOptions& options) {
  if (options.root.empty()) {
    complain("topo: --root: '' is no folder; give the one that holds a machine's sys/ and proc/");
    return exit_usage;
  }
  FileTreeLinux tree(options.root.c_str());
  const Result<Reading> reading = read_machine(tree);
  if (!reading.ok()) {
    complain_unreadable(options, reading.error());
    return exit_failed;
  }
  TopoView view;
  view.reading = reading.value();
  Settings settings;
  if (!set_places(options, settings)) return exit_usage;
  view.profile = use_profile(tree, settings, view.reading.machine, "topo");
  const Machine& machine = view.reading.machine;
  view.own = read_process_nodes(tree).value_or(ProcessNodes{}).own;
  view.tiers = assign_tiers(machine, view.own);
  if (options.tiers && !set_tiers(*options.tiers, machine, view.tiers)) return exit_usage;
  view.cpu_lists = read_cpu_lists(tree, machine);
  view.memory_devices = read_cxl_memory(tree, machine);
  return print_data(options.json ? json_of(view) : table_of(view));
}

}  // namespace

void add_topo(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* verb = app.add_subcommand("topo", "Show memory nodes, their kinds and tiers");
  verb->add_flag("--json", options->json, "Print JSON instead of a table");
  verb->add_option("--root", options->root, "Read a snapshot instead of this machine")
      ->type_name("DIR");
  verb->add_option("--tiers", options->tiers, "Set the tiers, fastest first: '0,1;2' or '0-1/2'")
      ->type_name("SPEC");
  verb->add_option("--profile", options->profile,
                   "Machine profile that cxltier bench saved, or none (default: the saved one)")
      ->type_name("FILE")
      ->transform(profile_word);
  verb->callback([options, &exit_code] { exit_code = topo(*options); });
}

}  // namespace cxltier
