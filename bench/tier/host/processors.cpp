// SPDX-License-Identifier: Apache-2.0
//
// sched_getaffinity(2), and sysfs's topology and cache folders.
#include "bench/tier/host/processors.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string>

#include "runtime/topology/node_cpus.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

CpuSet allowed_cpus() {
  CpuSet allowed;
  cpu_set_t* mask = CPU_ALLOC(cpu_ids_max);
  const std::size_t size = CPU_ALLOC_SIZE(cpu_ids_max);
  if (mask == nullptr) return allowed;
  CPU_ZERO_S(size, mask);
  if (::sched_getaffinity(0, size, mask) == 0) {
    for (std::size_t cpu = 0; cpu < cpu_ids_max; ++cpu) {
      if (CPU_ISSET_S(cpu, size, mask)) allowed.set(cpu);
    }
  }
  CPU_FREE(mask);
  return allowed;
}

Path cpu_path(std::size_t cpu) { return Path("sys/devices/system/cpu/cpu").number(cpu); }

// The first sibling of a CPU's core: the same for all hardware threads of it.
std::size_t core_of(FileTree& tree, std::size_t cpu) {
  TreeText text(tree);
  CpuSet siblings;
  if (text.read(cpu_path(cpu).text("/topology/thread_siblings_list")) != 0) return cpu;
  if (!parse_cpu_list(text.view(), siblings)) return cpu;
  return siblings.any() ? siblings._Find_first() : cpu;
}

struct LastCache {
  std::uint64_t bytes = 0;
  std::size_t id = 0;  // its first CPU
};

std::optional<LastCache> last_cache_of(FileTree& tree, std::size_t cpu) {
  std::optional<LastCache> last;
  std::uint64_t level_greatest = 0;
  for (std::uint64_t index = 0; index < 8; ++index) {
    const auto file = [&](std::string_view name) {
      return cpu_path(cpu).text("/cache/index").number(index).text(name);
    };
    TreeText text(tree);
    if (text.read(file("/level")) != 0) break;
    const std::uint64_t level = parse_number(text.view()).value_or(0);
    if (level <= level_greatest || text.read(file("/size")) != 0) continue;
    level_greatest = level;
    last = LastCache{parse_cache_size(text.view()), cpu};
    CpuSet shared;
    if (text.read(file("/shared_cpu_list")) != 0) continue;
    if (parse_cpu_list(text.view(), shared) && shared.any()) last->id = shared._Find_first();
  }
  return last;
}

void add_caches(FileTree& tree, const CpuSet& cpus, Processors& processors) {
  std::set<std::size_t> seen;
  for (std::size_t cpu = 0; cpu < cpu_ids_max; ++cpu) {
    if (!cpus[cpu]) continue;
    const std::optional<LastCache> cache = last_cache_of(tree, cpu);
    if (!cache || !seen.insert(cache->id).second) continue;
    processors.llc_bytes = std::max(processors.llc_bytes, cache->bytes);
    processors.llc_total_bytes += cache->bytes;
  }
}

}  // namespace

std::uint64_t parse_cache_size(std::string_view text) noexcept {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.empty()) return 0;
  std::uint64_t unit = 1;
  if (text.back() == 'K') unit = 1024;
  if (text.back() == 'M') unit = 1024 * 1024;
  if (text.back() == 'G') unit = 1024 * 1024 * 1024;
  if (unit > 1) text.remove_suffix(1);
  return parse_number(text).value_or(0) * unit;
}

Processors read_processors(FileTree& tree, const Machine& machine) {
  Processors processors;
  const CpuSet allowed = allowed_cpus();
  processors.usable = allowed.count();
  CpuSet seen;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    NodeProcessors node{machine.nodes[i].id, {}};
    // Of one node that does not name its CPUs, all are.
    const CpuSet unnamed = machine.node_count == 1 ? allowed : CpuSet{};
    const CpuSet cpus = cpus_of_node(tree, node.node).value_or(unnamed) & allowed & ~seen;
    seen |= cpus;
    for (std::size_t cpu = 0; cpu < cpu_ids_max; ++cpu) {
      if (!cpus[cpu]) continue;
      const std::size_t core = core_of(tree, cpu);
      if (core == cpu || !cpus[core]) node.cpus.push_back(static_cast<unsigned>(cpu));
    }
    if (!node.cpus.empty()) processors.nodes.push_back(std::move(node));
  }
  add_caches(tree, allowed, processors);
  return processors;
}

int pin_thread(unsigned cpu) noexcept {
  cpu_set_t* mask = CPU_ALLOC(cpu_ids_max);
  if (mask == nullptr) return ENOMEM;
  const std::size_t size = CPU_ALLOC_SIZE(cpu_ids_max);
  CPU_ZERO_S(size, mask);
  CPU_SET_S(cpu, size, mask);
  const int error = ::sched_setaffinity(0, size, mask) == 0 ? 0 : errno;
  CPU_FREE(mask);
  return error;
}

}  // namespace cxltier::bench
