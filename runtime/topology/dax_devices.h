// SPDX-License-Identifier: Apache-2.0
//
// What devices say about the kind of a node's memory.
//
// A dax device names the node of its memory (`target_node`), and its place in the device tree names
// what it is made of:
//
//   .../root0/decoderD.N/regionR/dax_regionR/daxX.Y    CXL memory, in region R
//   .../platform/hmem.H/daxX.Y                         special-purpose memory: HBM, or CXL that
//                                                      firmware has set up
//   .../ndbus0/regionR/.../daxX.Y                      persistent memory (NFIT, or CXL persistent)
//
// Only a device bound to kmem gives its memory to the node.  A memory device's own `numa_node` is
// where its CPUs are, not where its memory is, and is never looked at.
#pragma once

#include <array>
#include <cstdint>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier {

struct DeviceSurvey {
  // Target nodes of the devices bound to kmem, by what the device is made of.
  NodeSet cxl;
  NodeSet special_purpose;
  NodeSet persistent;
  NodeSet gpu;                       // NVIDIA's own list of nodes
  NodeSet kmem;                      // target nodes of all devices bound to kmem
  NodeSet cxl_not_bound;             // target nodes of CXL devices that are not bound to kmem
  std::uint32_t without_node = 0;    // dax devices with target_node -1
  std::uint32_t memory_devices = 0;  // CXL memory devices
  std::uint32_t regions = 0;         // CXL regions
  // The lowest region number of a node's CXL devices; -1 for none.
  std::array<std::int32_t, node_ids_max> region_of = [] {
    std::array<std::int32_t, node_ids_max> none{};
    none.fill(-1);
    return none;
  }();
};

// Folders that are missing or unreadable count as empty: what cannot be read proves nothing.
void survey_devices(FileTree& tree, DeviceSurvey& survey) noexcept;

}  // namespace cxltier
