// SPDX-License-Identifier: Apache-2.0
//
// The kernel's lists of nodes (Linux, Documentation/ABI/stable/sysfs-devices-node), cut down to
// what the process may use.
#include "runtime/topology/machine_watch.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/topology/process_nodes.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

std::optional<NodeSet> read_list(FileTree& tree, std::string_view name) noexcept {
  TreeText text(tree);
  NodeSet nodes;
  if (text.read(Path("sys/devices/system/node/").text(name)) != 0) return std::nullopt;
  if (!parse_node_list(text.view(), nodes)) return std::nullopt;
  return nodes;
}

std::optional<NodeSet> read_usable(FileTree& tree) noexcept {
  const std::optional<NodeSet> with_memory = read_list(tree, "has_memory");
  const Result<NodeSet> allowed = read_allowed_nodes(tree);
  if (!with_memory || !allowed.ok()) return std::nullopt;
  if (allowed.value().empty()) return with_memory;
  NodeSet usable;
  for (std::size_t id = 0; id < node_ids_max; ++id) {
    const auto node = static_cast<NodeId>(id);
    if (with_memory->contains(node) && allowed.value().contains(node)) usable.insert(node);
  }
  return usable;
}

}  // namespace

void MachineWatch::take(FileTree& tree) noexcept {
  if (const std::optional<NodeSet> usable = read_usable(tree)) usable_ = *usable;
}

bool MachineWatch::is_outdated(FileTree& tree) const noexcept {
  const std::optional<NodeSet> usable = read_usable(tree);
  return usable && *usable != usable_;
}

bool MachineWatch::may_grow(FileTree& tree) noexcept {
  const std::optional<NodeSet> possible = read_list(tree, "possible");
  const std::optional<NodeSet> usable = read_usable(tree);
  return possible && usable && *possible != *usable;
}

}  // namespace cxltier
