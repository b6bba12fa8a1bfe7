// SPDX-License-Identifier: Apache-2.0
//
// The lines of /proc/PID/smaps and /proc/PID/numa_maps as values.
//
// Sources: fs/proc/task_mmu.c of Linux 6.12 (show_map_vma, show_smap, show_numa_map) and
// mm/mempolicy.c (mpol_to_str).  Total on any input: what does not parse is no line of that kind.
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/units.h"
#include "runtime/os/address_range.h"

namespace cxltier {

// "7f0000000000-7f0000021000 rw-p 00000000 00:00 0   [heap]"
struct VmaLine {
  AddressRange range;
  bool writable_private = false;   // "rw-p": stacks, globals, heaps
  bool anonymous_private = false;  // and without a file
};
std::optional<VmaLine> parse_vma_line(std::string_view line) noexcept;

// "Referenced:          12 kB"; other fields are no line of this kind
enum class SmapsField : std::uint8_t { resident, referenced, huge };
struct SmapsValue {
  SmapsField field{};
  std::uint64_t kib = 0;
};
std::optional<SmapsValue> parse_smaps_value(std::string_view line) noexcept;

// "7f0000000000 prefer (many):0-2 anon=33 dirty=33 N0=30 N2=3 kernelpagesize_kB=4"
struct NumaMapsLine {
  std::uintptr_t begin = 0;
  bool application_policy = false;  // a policy that is neither the default nor equivalent to it
  bool anonymous = false;           // all its pages are the process's own: no file, or all copied
  std::uint64_t page_kib = 0;       // 0: not told
  std::size_t node_count = 0;
  struct NodePages {
    NodeId node{};
    std::uint64_t pages = 0;
  };
  std::array<NodePages, nodes_max> nodes{};  // more nodes than that are left out
};
std::optional<NumaMapsLine> parse_numa_maps_line(std::string_view line) noexcept;

}  // namespace cxltier
