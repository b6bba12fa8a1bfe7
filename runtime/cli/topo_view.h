// SPDX-License-Identifier: Apache-2.0
//
// What `cxltier topo` shows, gathered once and printed in three forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/topology/machine_profile.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/platform/platform.h"

namespace cxltier {

// A CXL memory device behind a node.
struct CxlMemory {
  std::string name;    // "mem0": the order of probing; the serial is what identifies a card
  std::string serial;  // as the kernel prints it: "0x1"; empty if unreadable
  std::string region;  // "region0"
};

// A network card, disk or accelerator: what `--io` shows.
struct IoDevice {
  std::string kind;     // "network", "nvme", "gpu", "accelerator"
  std::string address;  // PCI
  std::string name;     // "eth0", "nvme0"; empty: no driver, or not known
  std::int64_t node = -1;
  std::optional<LinkVerdict> link;
  std::uint64_t wire_mbps = 0;  // of a network card, Mb/s; 0: not known
  // Whether the link carries less than the wire.
  [[nodiscard]] bool is_limited_by_slot() const;
};

enum class IoDetail : std::uint8_t { none, devices };

// Network cards, disks and accelerators, by node and then by address.
[[nodiscard]] std::vector<IoDevice> read_io_devices(FileTree& tree, const PciList& pci);

struct TopoView {
  Reading reading;
  TierMap tiers;
  ProfileReading profile;  // applied to reading.machine already, if it is ok
  NodeSet own;             // nodes that the tiers are seen from; empty: all nodes with CPUs
  // By position in reading.machine.nodes.
  std::vector<std::string> cpu_lists;
  std::vector<std::vector<CxlMemory>> memory_devices;
  Platform platform;      // without memory blocks
  bool shows_io = false;  // --io
  std::vector<IoDevice> io;
};

// Why a view cannot be made: an errno of the folder of nodes.
[[nodiscard]] Result<TopoView> read_topo(FileTree& tree, IoDetail io);

// The memory devices behind each CXL node of a machine, by position.
std::vector<std::vector<CxlMemory>> read_cxl_memory(FileTree& tree, const Machine& machine);

// A finding as a line, such as "node 3: firmware's read or write latency of ...".
std::string sentence_of(const Finding& finding);

// "512 MiB", "1.5 GiB"
[[nodiscard]] std::string capacity_text(std::uint64_t bytes);
// "x8 at 16 GT/s, 15.8 GB/s of x16 at 32 GT/s, limited by its slot"
[[nodiscard]] std::string link_words(const std::optional<LinkVerdict>& link);

std::string table_of(const TopoView& view);

// The same as a picture, an SVG document.
[[nodiscard]] std::string picture_of(const TopoView& view);

// The CXL devices and the I/O devices in words, for the end of the table.
std::string devices_text(const TopoView& view);

// What changed from one view to another, one line each: "nodes 3 bytes: 1 -> 2"; empty for nothing.
std::string difference_of(const TopoView& before, const TopoView& after);

// Version 1 of the schema that runtime/cli/README.md describes.
std::string json_of(const TopoView& view);

}  // namespace cxltier
