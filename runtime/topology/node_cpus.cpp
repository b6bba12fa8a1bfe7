// SPDX-License-Identifier: Apache-2.0
//
// The node and CPU lists of sysfs, with their fallbacks.
#include "runtime/topology/node_cpus.h"

#include <errno.h>

#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

class NodeFolders final : public EntryVisitor {
 public:
  void visit(std::string_view name) noexcept override {
    const std::optional<std::uint32_t> number = number_after("node", name);
    if (number && *number < node_ids_max) nodes.insert(static_cast<NodeId>(*number));
  }
  NodeSet nodes;
};

std::optional<CpuSet> cpus_of_list(TreeText& text, const Path& path) {
  CpuSet cpus;
  if (text.read(path) != 0 || text.is_cut()) return std::nullopt;
  if (!parse_cpu_list(text.view(), cpus)) return std::nullopt;
  return cpus;
}

Path file_of(NodeId node, std::string_view file) {
  return Path("sys/devices/system/node/node").number(index_of(node)).text(file);
}

}  // namespace

std::optional<CpuSet> cpus_of_node(FileTree& tree, NodeId node) noexcept {
  TreeText text(tree);
  if (const std::optional<CpuSet> listed = cpus_of_list(text, file_of(node, "/cpulist"))) {
    return listed;
  }
  CpuSet cpus;
  if (text.read(file_of(node, "/cpumap")) != 0) return std::nullopt;
  if (!parse_cpu_mask(text.view(), cpus)) return std::nullopt;
  return cpus;
}

std::optional<CpuSet> cpus_online(FileTree& tree) noexcept {
  TreeText text(tree);
  return cpus_of_list(text, Path("sys/devices/system/cpu/online"));
}

Result<NodeSet> nodes_online(FileTree& tree) noexcept {
  TreeText text(tree);
  NodeSet listed;
  const bool readable = text.read(Path("sys/devices/system/node/online")) == 0;
  if (readable && parse_node_list(text.view(), listed) && !listed.empty()) return listed;
  NodeFolders folders;
  const Result<std::size_t> visited = tree.list("sys/devices/system/node", folders);
  if (!visited.ok()) return Error{visited.error()};
  if (folders.nodes.empty()) return Error{ENODEV};
  return folders.nodes;
}

NodeSet nodes_of_cpus(FileTree& tree, std::string_view cpu_list) noexcept {
  CpuSet wanted;
  static_cast<void>(parse_cpu_list(cpu_list, wanted));
  NodeSet found;
  const Result<NodeSet> online = nodes_online(tree);
  if (!online.ok() || wanted.none()) return found;
  for (std::size_t id = 0; id < node_ids_max; ++id) {
    const auto node = static_cast<NodeId>(id);
    if (!online.value().contains(node)) continue;
    const std::optional<CpuSet> cpus = cpus_of_node(tree, node);
    if (cpus && (*cpus & wanted).any()) found.insert(node);
  }
  return found;
}

}  // namespace cxltier
