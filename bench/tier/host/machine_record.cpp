// SPDX-License-Identifier: Apache-2.0
//
// sysfs, procfs and uname.
#include "bench/tier/host/machine_record.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "runtime/topology/finding.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == '\t' || text.front() == ' ')) text.remove_prefix(1);
  return std::string(text);
}

std::string read_line(FileTree& tree, const char* path, const char* otherwise) {
  TreeText text(tree);
  if (text.read(Path(path)) != 0 || text.view().empty()) return otherwise;
  return trimmed(text.view().substr(0, text.view().find('\n')));
}

// The first value of a key in /proc/cpuinfo, which is longer than a TreeText.
std::string cpuinfo_value(std::string_view key) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (trimmed(std::string_view(line).substr(0, line.find_first_of("\t:"))) == key) {
      return trimmed(std::string_view(line).substr(colon + 1));
    }
  }
  return {};
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (starts && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

std::string hypervisor_of(FileTree& tree, std::string_view flags) {
  const std::string named = read_line(tree, "sys/hypervisor/type", "");
  if (!named.empty()) return named;
  return has_word(flags, "hypervisor") ? "unnamed" : "none";
}

MachineNode node_record(const Node& node, TierIndex tier, const Processors& processors) {
  MachineNode record;
  record.id = static_cast<int>(index_of(node.id));
  record.kind = name_of(node.kind);
  record.tier = tier == tier_none ? -1 : static_cast<int>(index_of(tier));
  record.bytes = node.size.count;
  for (const NodeProcessors& own : processors.nodes) {
    if (own.node == node.id) record.cpus = own.cpus.size();
  }
  record.firmware_latency_ns = node.performance.read_latency_ns;
  record.firmware_read_gbps = node.performance.read_bandwidth_mbps / 1000.0;
  return record;
}

}  // namespace

bool is_emulated(std::string_view vendor, std::string_view cpu_model, std::string_view cpu_flags) {
  if (cpu_model.find("TCG") != cpu_model.npos) return true;
  const bool qemu = vendor.find("QEMU") != vendor.npos || cpu_model.find("QEMU") != cpu_model.npos;
  // QEMU on real cores shows the hypervisor's flag; a guest that hides it may be either, and a
  // figure called emulated by mistake does less harm than one called real.
  return qemu && !has_word(cpu_flags, "hypervisor");
}

MachineRecord read_machine_record(FileTree& tree, const Machine& machine, const TierMap& tiers,
                                  const Processors& processors) {
  MachineRecord record;
  utsname name{};
  if (::uname(&name) == 0) {
    record.kernel = name.release;
    record.architecture = name.machine;
  }
  const std::string flags = cpuinfo_value("flags");
  record.cpu_model = cpuinfo_value("model name");
  record.hypervisor = hypervisor_of(tree, flags);
  record.emulated =
      is_emulated(read_line(tree, "sys/class/dmi/id/sys_vendor", ""), record.cpu_model, flags);
  if (record.emulated) record.hypervisor = "emulated";
  record.cpus = processors.usable;
  record.llc_bytes = processors.llc_bytes;
  record.thp = read_line(tree, "sys/kernel/mm/transparent_hugepage/enabled", "not visible");
  record.numa_balancing = read_line(tree, "proc/sys/kernel/numa_balancing", "not visible");
  record.governor =
      read_line(tree, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not visible");
  double load[1] = {-1};
  if (::getloadavg(load, 1) == 1) record.load_average = load[0];
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    record.memory_bytes += machine.nodes[i].size.count;
    record.nodes.push_back(node_record(machine.nodes[i], tiers.tier_of[i], processors));
  }
  return record;
}

std::vector<std::string> uncertainties_of(const MachineRecord& machine,
                                          const Processors& processors) {
  std::vector<std::string> lines;
  if (machine.emulated) {
    lines.emplace_back("emulated, not representative: the order may be right, the figures are not");
  } else if (machine.hypervisor != "none") {
    lines.emplace_back(
        "a virtual machine: what the host does shows only as steal, and node numbers are what the "
        "hypervisor tells");
  }
  if (machine.governor == "not visible") {
    lines.emplace_back("no cpufreq: changes of the clock are inferred from a timed loop");
  }
  if (::geteuid() != 0) {
    lines.emplace_back("not root: prefetchers stay as they are, and no memory controller counters");
  } else {
    lines.emplace_back(
        "prefetchers stay as they are: the chase is random so that they do not help");
  }
  if (machine.llc_bytes == 0) {
    lines.emplace_back("the size of the last-level cache is not visible: buffers are 256 MiB");
  }
  if (processors.usable < 2) {
    lines.emplace_back("one CPU: latency under load cannot be measured");
  } else if (processors.usable < 4) {
    lines.emplace_back(fmt::format(
        "{} CPUs: the kernel's own work shares them with what is measured", processors.usable));
  }
  if (machine.nodes.size() == 1) {
    lines.emplace_back("one memory node: nothing here about remote or CXL memory");
  }
  return lines;
}

}  // namespace cxltier::bench
