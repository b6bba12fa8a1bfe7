// SPDX-License-Identifier: Apache-2.0
//
// Adds up "N2=123" of /proc/PID/numa_maps; the unit is the page of the mapping.
#include "runtime/cli/node_users.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/topology/platform/tiering_facts.h"

namespace cxltier {
namespace {

std::uint64_t bytes_on_node(std::string_view numa_maps, const std::string& mark) {
  std::uint64_t bytes = 0;
  for (const std::string_view line : lines_of(numa_maps)) {
    std::uint64_t pages = 0;
    std::uint64_t page_kib = 4;
    for (const std::string_view word : words_of(line)) {
      if (word.starts_with(mark)) pages = number_in(word.substr(mark.size())).value_or(0);
      constexpr std::string_view size_mark = "kernelpagesize_kB=";
      if (word.starts_with(size_mark))
        page_kib = number_in(word.substr(size_mark.size())).value_or(4);
    }
    bytes += pages * page_kib * 1024;
  }
  return bytes;
}

}  // namespace

std::vector<NodeUser> find_node_users(FileTree& tree, std::uint64_t node, std::size_t count_max) {
  Files files(tree);
  std::vector<NodeUser> users;
  const std::string mark = fmt::format("N{}=", node);
  for (const std::string& name : files.names("proc")) {
    const std::optional<std::uint64_t> pid = number_in(name);
    if (!pid) continue;
    const std::string maps = files.whole("proc/" + name + "/numa_maps").value_or("");
    const std::uint64_t bytes = bytes_on_node(maps, mark);
    if (bytes == 0) continue;
    users.push_back(
        {fmt::format("{} ({})", files.value("proc/" + name + "/comm").value_or("?"), name), *pid,
         bytes});
  }
  const TieringFacts facts = read_tiering_facts(files);
  if (const auto use = facts.use.find(node); use != facts.use.end()) {
    const std::uint64_t bytes =
        use->second.slab + use->second.page_tables + use->second.kernel_stack;
    if (bytes > 0) users.push_back({"the kernel (slab, page tables, stacks)", 0, bytes});
  }
  std::sort(users.begin(), users.end(),
            [](const NodeUser& a, const NodeUser& b) { return a.bytes > b.bytes; });
  users.resize(std::min(users.size(), count_max));
  return users;
}

}  // namespace cxltier
