// SPDX-License-Identifier: Apache-2.0
//
// Device-DAX instances: memory that is not (or not yet) ordinary RAM.
//
// What a device is made of shows in its place in the device tree: below regionR/dax_regionR it is
// CXL memory that the CXL driver assembled, below hmem.N a special-purpose range of the firmware's
// memory map, below ndbus persistent memory.  Bound to `kmem` it is system RAM; to `device_dax` a
// device file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/topology/platform/files.h"

namespace cxltier {

enum class DaxOrigin : std::uint8_t { unknown, cxl, hmem, persistent };

struct DaxInstance {
  std::string name;  // "dax0.0"
  std::string path;  // in the device tree, as far as known
  DaxOrigin origin = DaxOrigin::unknown;
  std::string region;  // of a CXL one: "region0"
  std::uint64_t size = 0;
  std::optional<std::uint64_t> start;
  std::optional<std::int64_t> target_node;
  std::optional<std::int64_t> numa_node;
  std::string driver;  // "kmem", "device_dax", or empty
  // As `daxctl list` counts them; sysfs says it block by block.
  std::optional<std::uint64_t> blocks_online;
  std::optional<std::uint64_t> blocks_total;
  [[nodiscard]] bool is_system_ram() const { return driver == "kmem"; }
};

[[nodiscard]] std::vector<DaxInstance> read_dax_list(Files& files);

// Reads origin and region off a path of the device tree.
void place_dax(const std::string& path, DaxInstance& dax);

}  // namespace cxltier
