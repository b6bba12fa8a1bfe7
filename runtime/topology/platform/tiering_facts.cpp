// SPDX-License-Identifier: Apache-2.0
//
// One small file after another.
#include "runtime/topology/platform/tiering_facts.h"

#include <algorithm>

namespace cxltier {
namespace {

// "always [madvise] never"
std::string word_in_brackets(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

void read_weights(Files& files, TieringFacts& facts) {
  const std::string folder = "sys/kernel/mm/mempolicy/weighted_interleave";
  for (const std::string& name : files.names(folder)) {
    const std::string path = folder + "/" + name;
    if (name == "auto") facts.weights_auto = files.flag(path);
    if (!name.starts_with("node")) continue;
    const std::optional<std::uint64_t> node = number_in(std::string_view(name).substr(4));
    const std::optional<std::uint64_t> weight = files.number(path);
    if (node && weight) facts.weights[*node] = *weight;
  }
}

// "Node 1 Slab:  1234 kB", in bytes; HugePages_Total has no unit.
std::uint64_t meminfo_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4 || words[2] != key) continue;
    const std::uint64_t value = number_in(words[3]).value_or(0);
    return words.size() > 4 && value < (std::uint64_t{1} << 50) ? value * 1024 : value;
  }
  return 0;
}

void read_use(Files& files, TieringFacts& facts) {
  for (const std::string& name : files.names("sys/devices/system/node")) {
    if (!name.starts_with("node")) continue;
    const std::optional<std::uint64_t> node = number_in(std::string_view(name).substr(4));
    const auto text = files.whole("sys/devices/system/node/" + name + "/meminfo");
    if (!node || !text) continue;
    facts.use[*node] = {meminfo_value(*text, "Slab:"), meminfo_value(*text, "PageTables:"),
                        meminfo_value(*text, "KernelStack:"),
                        meminfo_value(*text, "HugePages_Total:")};
  }
}

// "Node 1, zone   Normal" opens a zone; "        managed  131072" says how much lies in it.
void read_zones(Files& files, TieringFacts& facts) {
  const std::string text = files.whole("proc/zoneinfo").value_or("");
  std::optional<std::uint64_t> node;
  std::string zone;
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line, " ,\t");
    if (words.size() == 4 && words[0] == "Node" && words[2] == "zone") {
      node = number_in(words[1]);
      zone = words[3];
    }
    if (words.size() == 2 && words[0] == "managed" && words[1] != "0" && node) {
      facts.zones[*node].push_back(zone);
    }
  }
}

void read_counters(Files& files, TieringFacts& facts) {
  const std::string text = files.whole("proc/vmstat").value_or("");
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 2) continue;
    if (!words[0].starts_with("pgpromote") && !words[0].starts_with("pgdemote")) continue;
    if (const auto value = number_in(words[1])) facts.counters[std::string(words[0])] = *value;
  }
}

std::string status_field(std::string_view status, std::string_view key) {
  for (const std::string_view line : lines_of(status)) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      return trimmed_text(line.substr(key.size() + 1));
    }
  }
  return {};
}

// "0::/system.slice/redis.service"
std::string unified_group(std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return {};
}

}  // namespace

TieringFacts read_tiering_facts(Files& files) {
  TieringFacts facts;
  facts.demotion_enabled = files.flag("sys/kernel/mm/numa/demotion_enabled");
  facts.numa_balancing = files.number("proc/sys/kernel/numa_balancing");
  facts.zone_reclaim_mode = files.number("proc/sys/vm/zone_reclaim_mode");
  facts.huge_pages =
      word_in_brackets(files.value("sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  facts.perf_event_paranoid = files.signed_number("proc/sys/kernel/perf_event_paranoid");
  facts.unprivileged_userfaultfd = files.flag("proc/sys/vm/unprivileged_userfaultfd");
  read_weights(files, facts);
  read_use(files, facts);
  read_zones(files, facts);
  read_counters(files, facts);
  return facts;
}

ContainerFacts read_container_facts(Files& files) {
  ContainerFacts facts;
  const std::string status = files.whole("proc/self/status").value_or("");
  facts.seccomp_filter = status_field(status, "Seccomp") == "2";
  facts.memory_nodes = status_field(status, "Mems_allowed_list");
  const std::uint64_t capabilities = number_in(status_field(status, "CapEff"), 16).value_or(0);
  constexpr unsigned cap_sys_nice = 23;
  facts.has_sys_nice = (capabilities >> cap_sys_nice & 1) != 0;
  facts.control_group = unified_group(files.whole("proc/self/cgroup").value_or(""));
  const std::string group =
      "sys/fs/cgroup" + (facts.control_group == "/" ? std::string() : facts.control_group);
  facts.memory_max = files.number(group + "/memory.max");  // "max" is no number: no limit
  facts.in_container = files.exists(".dockerenv") || files.exists("run/.containerenv") ||
                       files.exists("var/run/secrets/kubernetes.io");
  facts.is_sys_hidden = files.names("sys/devices/system/node").empty();
  return facts;
}

}  // namespace cxltier
