// SPDX-License-Identifier: Apache-2.0
//
// mbind(2) and set_mempolicy(2).
#include "bench/tier/host/node_binding.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cxltier::bench {
namespace {

// include/uapi/linux/mempolicy.h
constexpr int mpol_default = 0;
constexpr int mpol_bind = 2;
constexpr int mpol_preferred_many = 5;
// One more than the bits of a mask: the kernel takes one off (get_nodes in mm/mempolicy.c).
constexpr unsigned long mask_bits = node_ids_max + 1;

int bind_memory(void* start, std::size_t bytes, int mode, const NodeSet& nodes) noexcept {
  const long result = syscall(SYS_mbind, start, bytes, mode, nodes.words().data(), mask_bits, 0U);
  return result == 0 ? 0 : errno;
}

NodeSet only(NodeId node) noexcept {
  NodeSet nodes;
  nodes.insert(node);
  return nodes;
}

}  // namespace

int bind_range(void* start, std::size_t bytes, NodeId node) noexcept {
  return bind_memory(start, bytes, mpol_bind, only(node));
}

int keep_range(void* start, std::size_t bytes, const NodeSet& nodes) noexcept {
  return bind_memory(start, bytes, mpol_preferred_many, nodes);
}

int bind_thread(NodeId node) noexcept {
  const NodeSet nodes = only(node);
  const long result = syscall(SYS_set_mempolicy, mpol_bind, nodes.words().data(), mask_bits);
  return result == 0 ? 0 : errno;
}

int unbind_thread() noexcept {
  return syscall(SYS_set_mempolicy, mpol_default, nullptr, 0UL) == 0 ? 0 : errno;
}

}  // namespace cxltier::bench
