// SPDX-License-Identifier: Apache-2.0
//
// What `cxltier topo` shows, gathered once and printed in two forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/topology/machine_profile.h"
#include "runtime/topology/machine_reader.h"

namespace cxltier {

// A CXL memory device behind a node.
struct CxlMemory {
  std::string name;    // "mem0": the order of probing; the serial is what identifies a card
  std::string serial;  // as the kernel prints it: "0x1"; empty if unreadable
  std::string region;  // "region0"
};

struct TopoView {
  Reading reading;
  TierMap tiers;
  ProfileReading profile;  // applied to reading.machine already, if it is ok
  NodeSet own;             // nodes that the tiers are seen from; empty: all nodes with CPUs
  // By position in reading.machine.nodes.
  std::vector<std::string> cpu_lists;
  std::vector<std::vector<CxlMemory>> memory_devices;
};

// The memory devices behind each CXL node of a machine, by position.
std::vector<std::vector<CxlMemory>> read_cxl_memory(FileTree& tree, const Machine& machine);

// A finding as a line, such as "node 3: firmware's read or write latency of ...".
std::string sentence_of(const Finding& finding);

std::string table_of(const TopoView& view);

// Version 1 of the schema that runtime/cli/README.md describes.
std::string json_of(const TopoView& view);

}  // namespace cxltier
