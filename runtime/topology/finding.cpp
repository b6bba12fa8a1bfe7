// SPDX-License-Identifier: Apache-2.0
//
// The words of the findings, in the order of their enum.
#include "runtime/topology/finding.h"

namespace cxltier {
namespace {

struct Words {
  const char* name;
  const char* text;
};

constexpr std::array<Words, finding_kinds> words_of_kinds{{
    {"nodes_beyond_limit", "% nodes have memory; only the first 64 are used"},
    {"size_unreadable", "size unreadable; taken as a node without memory"},
    {"cpus_unreadable",
     "CPUs unreadable, so its kind is not known; not used unless --tiers names it"},
    {"cpus_offline", "% of its CPUs are offline and not counted"},
    {"cpus_overlap", "% of its CPUs belong to an earlier node too and are counted there"},
    {"distance_unreadable",
     "its row of % distances fits neither the online nor the possible nodes"},
    {"latency_absurd", "firmware's read or write latency of % ns is implausible and not used"},
    {"bandwidth_absurd", "firmware's bandwidth of % MB/s is implausible and not used"},
    {"kind_unproven", "no CPUs, and nothing proves its kind; not used unless --tiers names it"},
    {"special_purpose_unproven",
     "special-purpose memory that is not faster than DRAM (CXL owned by firmware looks like this); "
     "not used unless --tiers names it"},
    {"kinds_disagree", "devices of several kinds lie in it; not used unless --tiers names it"},
    {"kmem_node_absent",
     "a dax device is bound to kmem, but the node is not online: its memory blocks are offline "
     "(daxctl online-memory) or firmware describes no such node"},
    {"cxl_joins_cpu_node",
     "CXL memory joins, or would join, a node with CPUs, since its window has no SRAT entry: do "
     "not online it; "
     "firmware must give the window a proximity domain of its own"},
    {"cxl_not_system_ram",
     "a CXL dax device is not system RAM (daxctl reconfigure-device --mode=system-ram)"},
    {"cxl_without_region",
     "CXL memory devices: %, but no region (cxl create-region -t ram -d decoder0.0 -m mem0)"},
    {"dax_without_node",
     "dax devices: % without a node of their own: firmware's SRAT does not describe them"},
}};

}  // namespace

const char* name_of(FindingKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < finding_kinds ? words_of_kinds[index].name : "?";
}

const char* text_of(FindingKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < finding_kinds ? words_of_kinds[index].text : "?";
}

const char* name_of(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::dram:
      return "dram";
    case NodeKind::cxl:
      return "cxl";
    case NodeKind::hbm:
      return "hbm";
    case NodeKind::gpu:
      return "gpu";
    case NodeKind::persistent:
      return "persistent";
    case NodeKind::unknown:
      return "unknown";
  }
  return "?";
}

}  // namespace cxltier
