// SPDX-License-Identifier: Apache-2.0
//
// Reads the last lines of a process's status: the file is long for a user of many groups, hence a
// buffer larger than a TreeText's.
#include "runtime/topology/process_nodes.h"

#include <algorithm>
#include <array>

#include "runtime/topology/node_cpus.h"
#include "runtime/topology/sysfs_text.h"

namespace cxltier {

Result<ProcessNodes> read_process_nodes(FileTree& tree, const char* status_path) noexcept {
  std::array<char, 8192> buffer;
  const Result<std::size_t> length = tree.read(status_path, buffer);
  if (!length.ok()) return Error{length.error()};
  const std::string_view status(buffer.data(), std::min(length.value(), buffer.size()));

  ProcessNodes nodes;
  nodes.own = nodes_of_cpus(tree, field_of(status, "Cpus_allowed_list"));
  static_cast<void>(parse_node_list(field_of(status, "Mems_allowed_list"), nodes.allowed));
  return nodes;
}

}  // namespace cxltier
