// SPDX-License-Identifier: Apache-2.0
//
// Reads sysfs and /proc/vmstat.
#include "tests/guest/machine_nodes.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cxltier::guest {
namespace {

const std::string node_folder = "/sys/devices/system/node/";

// Reads a list as the kernel writes it: "0-1,4".
std::vector<int> read_list(const std::string& name) {
  std::ifstream in(node_folder + name);
  std::vector<int> nodes;
  int first = 0;
  while (in >> first) {
    int last = first;
    if (in.peek() == '-') in.ignore() >> last;
    for (int node = first; node <= last; ++node) nodes.push_back(node);
    in.ignore();
  }
  return nodes;
}

}  // namespace

std::vector<int> dram_nodes() { return read_list("has_cpu"); }

std::vector<int> cxl_nodes() {
  const std::vector<int> dram = dram_nodes();
  std::vector<int> nodes = read_list("has_memory");
  std::erase_if(nodes, [&](int node) { return std::ranges::find(dram, node) != dram.end(); });
  return nodes;
}

int cxl_node() { return cxl_nodes().at(0); }

std::uint64_t free_bytes(int node) {
  std::ifstream in(node_folder + "node" + std::to_string(node) + "/meminfo");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t kib = 0;
    while (words >> word && word != "MemFree:") {
    }
    if (words >> kib) return kib << 10;
  }
  return 0;
}

std::uint64_t vmstat(const std::string& name) {
  std::ifstream in("/proc/vmstat");
  std::string key;
  std::uint64_t value = 0;
  while (in >> key >> value) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace cxltier::guest
