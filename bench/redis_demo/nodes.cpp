// SPDX-License-Identifier: Apache-2.0
//
// Reads nodes from sysfs and switches NUMA balancing; see the header.
#include "bench/redis_demo/nodes.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

const char* const balancing_path = "/proc/sys/kernel/numa_balancing";

std::string node_path(int node, const char* file) {
  return "/sys/devices/system/node/node" + std::to_string(node) + "/" + file;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0-3,8" to {0, 1, 2, 3, 8}.
std::vector<int> parse_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    int last = 0;
    const int fields = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (fields < 1) continue;
    for (int n = first; n <= (fields == 2 ? last : first); ++n) numbers.push_back(n);
  }
  return numbers;
}

// A line "Node 0 MemTotal:  2048 kB" of meminfo, in bytes.
std::uint64_t meminfo_bytes(int node, const std::string& field) {
  std::ifstream file(node_path(node, "meminfo"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(field + ":");
    if (at == std::string::npos) continue;
    return std::stoull(line.substr(at + field.size() + 1)) * 1024;
  }
  return 0;
}

void choose_cpus(Nodes& nodes) {
  const std::vector<int> first = parse_list(first_line(node_path(nodes.dram[0], "cpulist")));
  nodes.cpu_server = first.front();
  nodes.cpu_client = first.back();
  if (nodes.dram.size() > 1) {
    nodes.cpu_client = parse_list(first_line(node_path(nodes.dram[1], "cpulist"))).front();
  }
}

}  // namespace

bool Nodes::is_dram(int node) const {
  return std::find(dram.begin(), dram.end(), node) != dram.end();
}

Nodes read_nodes(std::optional<int> cxl_node) {
  Nodes nodes;
  const std::string online = first_line("/sys/devices/system/node/online");
  for (int node : parse_list(online)) {
    if (meminfo_bytes(node, "MemTotal") == 0 || cxl_node == node) continue;
    if (!parse_list(first_line(node_path(node, "cpulist"))).empty()) {
      nodes.dram.push_back(node);
    } else if (!cxl_node && nodes.cxl < 0) {
      nodes.cxl = node;
    }
  }
  if (cxl_node) {
    if (meminfo_bytes(*cxl_node, "MemTotal") == 0) {
      fail("--cxl-node " + std::to_string(*cxl_node) +
           ": no such node with memory; online: " + online);
    }
    nodes.cxl = *cxl_node;
  }
  if (nodes.dram.empty()) fail("no node with CPUs and memory in /sys/devices/system/node");
  choose_cpus(nodes);
  return nodes;
}

std::uint64_t free_bytes(int node) { return meminfo_bytes(node, "MemFree"); }

std::uint64_t numa_pages_migrated() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "numa_pages_migrated") return value;
  }
  return 0;
}

NumaBalancing::NumaBalancing() : value_at_start_(value()) {}

NumaBalancing::~NumaBalancing() {
  if (value_at_start_ >= 0) std::ofstream(balancing_path) << value_at_start_ << std::flush;
}

int NumaBalancing::value() const {
  std::ifstream file(balancing_path);
  int value = -1;
  if (!(file >> value)) return -1;
  return value;
}

void NumaBalancing::set(int wanted) {
  if (value() == wanted || (value() < 0 && wanted == 0)) return;
  std::ofstream(balancing_path) << wanted << std::flush;
  if (value() != wanted) {
    fail("kernel.numa_balancing stays " + std::to_string(value()) + " where " +
         std::to_string(wanted) + " is needed: run as root, on a kernel with NUMA_BALANCING");
  }
}

void pin_to_cpu(int pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(pid, sizeof set, &set) != 0) {
    fail_errno("pinning process " + std::to_string(pid) + " to CPU " + std::to_string(cpu));
  }
}

}  // namespace cxltier::demo
