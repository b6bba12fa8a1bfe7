// SPDX-License-Identifier: Apache-2.0
//
// Memory blocks: the pieces in which the kernel brings hot-plugged memory online, and their zones.
// Source: Documentation/admin-guide/mm/memory-hotplug.rst, Linux 6.12.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/topology/platform/files.h"

namespace cxltier {

struct MemoryBlock {
  std::uint64_t index = 0;  // its address is index * MemoryBlocks::size
  bool is_online = false;
  std::string zones;  // as valid_zones says: "Normal", "Movable", "none"
  std::optional<std::uint64_t> node;
};

struct MemoryBlocks {
  std::uint64_t size = 0;   // bytes of a block; 0: not known
  std::string auto_online;  // "offline", "online", "online_kernel", "online_movable"
  std::vector<MemoryBlock> blocks;
  // The blocks that lie within [start, start + length).
  [[nodiscard]] std::vector<const MemoryBlock*> within(std::uint64_t start,
                                                       std::uint64_t length) const;
};

[[nodiscard]] MemoryBlocks read_memory_blocks(Files& files);

// What `lsmem -o RANGE,SIZE,STATE,REMOVABLE,BLOCK,NODE,ZONES` printed; nothing if it is none.
[[nodiscard]] std::optional<MemoryBlocks> parse_lsmem(std::string_view text);

}  // namespace cxltier
