// SPDX-License-Identifier: Apache-2.0
//
// Reads the last lines of a process's status: the file is long for a user of many groups, hence a
// buffer larger than a TreeText's.
#include "runtime/topology/process_nodes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "runtime/topology/node_cpus.h"
#include "runtime/topology/sysfs_text.h"

namespace cxltier {
namespace {

class StatusText {
 public:
  Result<std::string_view> read(FileTree& tree, const char* path) noexcept {
    const Result<std::size_t> length = tree.read(path, buffer_);
    if (!length.ok()) return Error{length.error()};
    return std::string_view(buffer_.data(), std::min(length.value(), buffer_.size()));
  }

 private:
  std::array<char, 8192> buffer_;
};

NodeSet allowed_of(std::string_view status) noexcept {
  NodeSet allowed;
  static_cast<void>(parse_node_list(field_of(status, "Mems_allowed_list"), allowed));
  return allowed;
}

}  // namespace

Result<ProcessNodes> read_process_nodes(FileTree& tree, const char* status_path) noexcept {
  StatusText text;
  const Result<std::string_view> status = text.read(tree, status_path);
  if (!status.ok()) return Error{status.error()};

  ProcessNodes nodes;
  nodes.own = nodes_of_cpus(tree, field_of(status.value(), "Cpus_allowed_list"));
  nodes.allowed = allowed_of(status.value());
  return nodes;
}

Result<NodeSet> read_allowed_nodes(FileTree& tree, const char* status_path) noexcept {
  StatusText text;
  const Result<std::string_view> status = text.read(tree, status_path);
  if (!status.ok()) return Error{status.error()};
  return allowed_of(status.value());
}

}  // namespace cxltier
