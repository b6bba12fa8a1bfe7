// SPDX-License-Identifier: Apache-2.0
//
// The verb `provision`: makes idle CXL memory usable, or takes it away again.
//
// Exit codes: 0 done or nothing to do, 1 the kernel refused something (all of this call was taken
// back), 2 usage.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <memory>
#include <string>

#include "runtime/cli/kernel_log.h"
#include "runtime/cli/node_users.h"
#include "runtime/cli/verb.h"
#include "runtime/provision/provisioner.h"
#include "runtime/provision/sysfs_linux.h"

namespace cxltier {
namespace {

struct ProvisionVerb {
  std::string root = "/";
  bool dry_run = false;
  bool undo = false;
  bool force = false;
  bool no_interleave = false;
};

// What the kernel wrote into its log since `before`, as far as it concerns this.
std::string kernel_reasons(const std::string& before) {
  const std::string after = read_kernel_log();
  const std::vector<std::string_view> old_lines = lines_of(before);
  const std::string_view last = old_lines.empty() ? std::string_view() : old_lines.back();
  const std::size_t at = last.empty() ? 0 : after.rfind(last);
  std::string reasons;
  for (const std::string_view line :
       lines_of(std::string_view(after).substr(at == std::string::npos ? 0 : at + last.size()))) {
    for (const char* word : {"cxl", "kmem", "dax", "Offlin", "offlin", "memory"}) {
      if (line.find(word) == std::string_view::npos) continue;
      reasons += fmt::format("\n  kernel: {}", line);
      break;
    }
  }
  return reasons;
}

// Each line is a complaint of its own.
void complain_each(std::string_view text) {
  for (const std::string_view line : lines_of(text)) complain(line);
}

struct UseOfCxl {
  std::string text;           // a line for each user of a node
  bool by_processes = false;  // other than this one
};

UseOfCxl use_of_cxl(FileTree& tree, const Platform& platform) {
  UseOfCxl use;
  for (const DaxInstance& dax : platform.dax) {
    if (dax.origin != DaxOrigin::cxl || dax.target_node.value_or(-1) < 0) continue;
    const auto node = static_cast<std::uint64_t>(*dax.target_node);
    for (const NodeUser& user : find_node_users(tree, node, 5)) {
      if (user.pid == static_cast<std::uint64_t>(::getpid())) continue;
      use.by_processes |= user.pid != 0;
      use.text +=
          fmt::format("\n  node {} is used by {}: {} KiB", node, user.process, user.bytes >> 10);
    }
  }
  return use;
}

int report(const ProvisionOutcome& outcome, const std::string& log_before,
           const std::string& users) {
  if (outcome.done) {
    std::string text;
    for (const std::string& made : outcome.made) text += made + "\n";
    return print_data(text.empty() ? "nothing to do\n" : text);
  }
  complain_each(fmt::format("provision: {}{}{}", outcome.fault, kernel_reasons(log_before), users));
  if (outcome.stuck.empty()) {
    complain(fmt::format("provision: everything that this call did was taken back ({} writes)",
                         outcome.rolled_back.size()));
  }
  for (const std::string& stuck : outcome.stuck) {
    complain(fmt::format("provision: could not be taken back: {}", stuck));
  }
  return exit_failed;
}

int provision(const ProvisionVerb& options) {
  if (options.root != "/" && !options.dry_run) {
    complain("provision: --root: a snapshot cannot be changed; add --dry-run to see the plan");
    return exit_usage;
  }
  FileTreeLinux tree(options.root.c_str());
  const Platform platform = read_platform(tree, {options.root != "/", {}});
  SysfsLinux sysfs;
  Provisioner provisioner(sysfs);
  const std::string log = read_kernel_log();
  if (options.undo) {
    const UseOfCxl use = use_of_cxl(sysfs.tree(), platform);
    if (use.by_processes && !options.force) {
      complain_each(
          fmt::format("provision: --undo: the memory is in use; stop the programs, or let the "
                      "kernel move their pages to other nodes: --undo --force{}",
                      use.text));
      return exit_failed;
    }
    const ProvisionOutcome outcome = provisioner.undo(platform);
    return report(outcome, log, outcome.done ? "" : use_of_cxl(sysfs.tree(), platform).text);
  }
  const ProvisionPlan plan = plan_provision(platform, {!options.no_interleave, false});
  if (options.dry_run || plan.is_empty()) return print_data(text_of(plan));
  for (const std::string& obstacle : plan.obstacles) {
    complain(fmt::format("provision: left alone: {}", obstacle));
  }
  return report(provisioner.apply(plan), log, "");
}

}  // namespace

void add_provision(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ProvisionVerb>();
  CLI::App* verb = app.add_subcommand(
      "provision", "Make idle CXL memory usable: regions, system RAM, online and movable");
  CLI::Option* dry_run =
      verb->add_flag("--dry-run", options->dry_run,
                     "Print the plan, its sysfs writes and the equivalent commands");
  CLI::Option* undo =
      verb->add_flag("--undo", options->undo, "Take all CXL regions of volatile memory away again")
          ->excludes(dry_run);
  verb->add_flag("--force", options->force,
                 "With --undo: also if programs use it; the kernel moves their pages")
      ->needs(undo);
  verb->add_flag("--no-interleave", options->no_interleave,
                 "One region for each device, where the window allows it");
  verb->add_option("--root", options->root, "Plan for a snapshot; needs --dry-run")
      ->type_name("DIR");
  verb->callback([options, &exit_code] { exit_code = provision(*options); });
}

}  // namespace cxltier
