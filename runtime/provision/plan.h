// SPDX-License-Identifier: Apache-2.0
//
// What `cxltier provision` would do, as a value: which regions of which devices, which dax devices
// become system RAM, which blocks come online.  Pure: same Platform in, same plan out.
//
//   idle device ──► region ──► dax device ──► system RAM ──► blocks online, movable
//
// Rules of interleaving (CXL 3.1, 9.13.1; Linux drivers/cxl/core/region.c, cxl_region_attach):
//   - ways are 1, 2, 3, 4, 6, 8, 12 or 16 and a multiple of the window's ways
//   - below an interleaved window the granularity is the window's; else 256 bytes
//   - position p lies below the window's target number p modulo the window's ways
//   - all members give the same number of bytes, a multiple of 256 MiB
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/topology/platform/platform.h"

namespace cxltier {

struct RegionMember {
  std::string memory;   // "mem0"
  std::string decoder;  // "decoder2.0", a free one of its endpoint
};

struct RegionPlan {
  std::string window;  // "decoder0.0"
  std::string name;    // as the kernel will call it, unless somebody else makes one before
  std::uint64_t granularity = 256;
  std::uint64_t member_bytes = 0;
  std::vector<RegionMember> members;  // in interleave order
  [[nodiscard]] std::uint64_t bytes() const { return member_bytes * members.size(); }
};

struct OnlinePlan {
  std::string dax;                    // "dax0.0"
  bool must_bind = false;             // it is a device file, or has no driver
  std::string driver;                 // what it is bound to now
  std::vector<std::uint64_t> blocks;  // offline ones
};

struct ProvisionPlan {
  std::vector<RegionPlan> regions;
  std::vector<OnlinePlan> online;
  std::vector<std::string> obstacles;  // why something idle is left alone
  [[nodiscard]] bool is_empty() const { return regions.empty() && online.empty(); }
};

struct ProvisionOptions {
  bool interleave = true;
  bool ignore_node = false;  // also where the memory would join a node with CPUs
};

[[nodiscard]] ProvisionPlan plan_provision(const Platform& platform,
                                           const ProvisionOptions& options);

// The plan in words, the sysfs writes that carry it out, and the commands of cxl and daxctl that
// would do the same.
[[nodiscard]] std::string text_of(const ProvisionPlan& plan);

// One write to a file of sysfs.
struct SysfsWrite {
  std::string path;  // relative to the root
  std::string value;
};

// The writes that make a region, and for each how it is taken back (an empty path: it need not be).
struct ReversibleWrite {
  SysfsWrite forward;
  SysfsWrite back;
};
[[nodiscard]] std::vector<ReversibleWrite> writes_of(const RegionPlan& region);

}  // namespace cxltier
