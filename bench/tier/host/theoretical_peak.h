// SPDX-License-Identifier: Apache-2.0
//
// What a node's memory cannot exceed, where this machine says it.
//
//   CXL     links of the cards: speed x lanes, each way, from sysfs; everybody may read it
//   DRAM    configured speed x data width of every module, from firmware's SMBIOS table (type 17,
//           DMTF DSP0134), which is root's only
//
// Both are upper bounds: encoding and refresh take their part, two modules may share a channel, and
// all cards, or all modules, are added up, since neither source says which node they are of.  A
// ceiling may be too high; it must never be too low.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "bench/tier/kernel/mix.h"
#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier::bench {

struct TheoreticalPeak {
  double gbps = 0;  // each way if full_duplex, else reads and writes together
  bool full_duplex = false;
  std::string source;  // "links of 2 CXL cards"
};

// By node id; a node about which nothing is known is absent.
[[nodiscard]] std::map<int, TheoreticalPeak> read_theoretical_peaks(FileTree& tree,
                                                                    const Machine& machine);

// The most traffic that a mix can have, in GB/s, reads and writes together.
[[nodiscard]] double ceiling_of(const TheoreticalPeak& peak, const Mix& mix);

// GB/s of all memory modules in an SMBIOS structure table; 0 if one does not say.  Any bytes.
[[nodiscard]] double gbps_of_modules(std::span<const char> smbios);

// GB/s each way of a link as sysfs has it: "32.0 GT/s PCIe" and "8"; 0 if unknown.
[[nodiscard]] double gbps_of_link(const std::string& speed, const std::string& width);

}  // namespace cxltier::bench
