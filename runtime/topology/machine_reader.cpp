// SPDX-License-Identifier: Apache-2.0
//
// Builds a Machine in steps, each of which leaves it valid:
//
//   select nodes -> CPUs -> devices -> performance -> kinds -> distances -> kernel tiers -> pages
//
// Kinds need performance, since HBM is told from CXL behind firmware only by being faster than
// DRAM; performance needs devices, since a CXL node's values may lie in its region.
#include "runtime/topology/machine_reader.h"

#include <errno.h>

#include <algorithm>
#include <bit>

#include "policy/check.h"
#include "runtime/topology/dax_devices.h"
#include "runtime/topology/node_cpus.h"
#include "runtime/topology/node_performance.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

Path node_path(NodeId node, std::string_view file) {
  return Path("sys/devices/system/node/node").number(index_of(node)).text(file);
}

std::size_t size_of_set(const NodeSet& set) {
  std::size_t size = 0;
  for (const std::uint64_t word : set.words())
    size += static_cast<std::size_t>(std::popcount(word));
  return size;
}

// Calls visit(NodeId) in ascending order.
template <typename Visit>
void for_each(const NodeSet& set, Visit visit) {
  for (std::size_t id = 0; id < node_ids_max; ++id) {
    if (set.contains(static_cast<NodeId>(id))) visit(static_cast<NodeId>(id));
  }
}

class MachineReader {
 public:
  MachineReader(FileTree& tree, Reading& reading, const NodeSet& online) noexcept
      : tree_(tree), machine_(reading.machine), findings_(reading.findings), online_(online) {}

  void read() noexcept {
    select_nodes();
    count_cpus();
    DeviceSurvey survey;
    survey_devices(tree_, survey);
    for (Node& node : nodes()) {
      node.performance =
          read_performance(tree_, node.id, survey.region_of[index_of(node.id)], findings_);
    }
    judge_kinds(survey);
    report_devices(survey);
    read_distances();
    read_kernel_tiers();
    read_page_sizes();
  }

 private:
  std::span<Node> nodes() noexcept { return {machine_.nodes.data(), machine_.node_count}; }

  void select_nodes() noexcept;
  void keep(const NodeSet& set) noexcept;
  Bytes size_of(NodeId node) noexcept;
  void count_cpus() noexcept;
  void judge_kinds(const DeviceSurvey& survey) noexcept;
  NodeKind kind_of(const Node& node, const DeviceSurvey& survey) noexcept;
  void report_devices(const DeviceSurvey& survey) noexcept;
  void read_distances() noexcept;
  void read_kernel_tiers() noexcept;
  void read_page_sizes() noexcept;

  FileTree& tree_;
  Machine& machine_;
  Findings& findings_;
  NodeSet online_;
  NodeSet cpus_unreadable_;
};

Bytes MachineReader::size_of(NodeId node) noexcept {
  TreeText text(tree_);
  if (text.read(node_path(node, "/meminfo")) == 0) {
    if (const std::optional<Bytes> size = parse_mem_total(text.view())) return *size;
  }
  findings_.add({FindingKind::size_unreadable, node, 0});
  return {0};
}

// Appends nodes until the machine is full.
void MachineReader::keep(const NodeSet& set) noexcept {
  for_each(set, [this](NodeId node) {
    if (machine_.node_count < nodes_max) machine_.nodes[machine_.node_count++].id = node;
  });
}

// Nodes with memory go first, so that nodes without never push one out; then all are put in order.
void MachineReader::select_nodes() noexcept {
  std::array<Bytes, node_ids_max> sizes{};
  NodeSet with_memory;
  NodeSet without_memory;
  for_each(online_, [&](NodeId node) {
    sizes[index_of(node)] = size_of(node);
    (sizes[index_of(node)].count > 0 ? with_memory : without_memory).insert(node);
  });
  const std::size_t found = size_of_set(with_memory);
  if (found > nodes_max) findings_.add({FindingKind::nodes_beyond_limit, node_none, found});
  keep(with_memory);
  keep(without_memory);
  std::sort(nodes().begin(), nodes().end(),
            [](const Node& a, const Node& b) { return a.id < b.id; });
  for (Node& node : nodes()) node.size = sizes[index_of(node.id)];
}

void MachineReader::count_cpus() noexcept {
  const std::optional<CpuSet> cpus_up = cpus_online(tree_);
  CpuSet seen;
  for (Node& node : nodes()) {
    const std::optional<CpuSet> listed = cpus_of_node(tree_, node.id);
    if (!listed) {
      findings_.add({FindingKind::cpus_unreadable, node.id, 0});
      cpus_unreadable_.insert(node.id);
      continue;
    }
    const CpuSet up = cpus_up ? *listed & *cpus_up : *listed;
    const std::size_t offline = (*listed & ~up).count();
    const std::size_t repeated = (up & seen).count();
    if (offline > 0) findings_.add({FindingKind::cpus_offline, node.id, offline});
    if (repeated > 0) findings_.add({FindingKind::cpus_overlap, node.id, repeated});
    node.cpu_count = static_cast<std::uint32_t>(up.count() - repeated);
    seen |= up;
  }
}

// The fastest memory that is plainly DRAM: nodes with CPUs that no device claims.
std::uint32_t dram_bandwidth(std::span<const Node> nodes, const DeviceSurvey& survey) {
  std::uint32_t fastest = 0;
  for (const Node& node : nodes) {
    if (node.cpu_count == 0 || survey.kmem.contains(node.id)) continue;
    fastest = std::max(fastest, node.performance.read_bandwidth_mbps);
  }
  return fastest;
}

NodeKind MachineReader::kind_of(const Node& node, const DeviceSurvey& survey) noexcept {
  const bool special = survey.special_purpose.contains(node.id);
  const bool cxl = survey.cxl.contains(node.id);
  const bool persistent = survey.persistent.contains(node.id);
  const std::uint32_t dram = dram_bandwidth(nodes(), survey);
  // HBM may have CPUs of its own: its node is special-purpose memory that is faster than DRAM.
  if (special && !cxl && !persistent && dram > 0 && node.performance.read_bandwidth_mbps > dram) {
    return NodeKind::hbm;
  }
  if (cpus_unreadable_.contains(node.id)) return NodeKind::unknown;
  if (node.cpu_count > 0) {
    if (cxl) findings_.add({FindingKind::cxl_joins_cpu_node, node.id, 0});
    return NodeKind::dram;
  }
  if (survey.gpu.contains(node.id)) return NodeKind::gpu;
  if (persistent && (cxl || special)) {
    findings_.add({FindingKind::kinds_disagree, node.id, 0});
    return NodeKind::unknown;
  }
  if (persistent) return NodeKind::persistent;
  if (cxl) return NodeKind::cxl;
  if (node.size.count == 0) return NodeKind::unknown;
  findings_.add(
      {special ? FindingKind::special_purpose_unproven : FindingKind::kind_unproven, node.id, 0});
  return NodeKind::unknown;
}

void MachineReader::judge_kinds(const DeviceSurvey& survey) noexcept {
  for (Node& node : nodes()) node.kind = kind_of(node, survey);
}

void MachineReader::report_devices(const DeviceSurvey& survey) noexcept {
  for_each(survey.kmem, [&](NodeId node) {
    if (!online_.contains(node)) findings_.add({FindingKind::kmem_node_absent, node, 0});
  });
  for_each(survey.cxl_not_bound, [&](NodeId node) {
    findings_.add({FindingKind::cxl_not_system_ram, node, 0});
  });
  if (survey.without_node > 0) {
    findings_.add({FindingKind::dax_without_node, node_none, survey.without_node});
  }
  if (survey.memory_devices > 0 && survey.regions == 0) {
    findings_.add({FindingKind::cxl_without_region, node_none, survey.memory_devices});
  }
}

// The columns of a row are the online nodes, or in some kernels the possible ones.
void MachineReader::read_distances() noexcept {
  TreeText text(tree_);
  NodeSet possible;
  if (text.read(Path("sys/devices/system/node/possible")) == 0) {
    if (!parse_node_list(text.view(), possible)) possible = NodeSet{};
  }
  for (std::size_t row = 0; row < machine_.node_count; ++row) {
    const NodeId node = machine_.nodes[row].id;
    std::array<std::uint8_t, node_ids_max> distances{};
    if (text.read(node_path(node, "/distance")) != 0) continue;
    const std::size_t columns = parse_distances(text.view(), distances);
    const bool fits_online = columns == size_of_set(online_);
    if (columns == 0 || (!fits_online && columns != size_of_set(possible))) {
      findings_.add({FindingKind::distance_unreadable, node, columns});
      continue;
    }
    std::size_t column = 0;
    for_each(fits_online ? online_ : possible, [&](NodeId other) {
      const std::size_t position = position_of(machine_, other);
      if (position < machine_.node_count) machine_.distance[row][position] = distances[column];
      ++column;
    });
  }
}

class KernelTierVisitor final : public EntryVisitor {
 public:
  KernelTierVisitor(FileTree& tree, std::span<Node> nodes) noexcept : tree_(tree), nodes_(nodes) {}

  void visit(std::string_view name) noexcept override {
    const std::optional<std::uint32_t> number = number_after("memory_tier", name);
    if (!number || *number > 0x7fff'ffff) return;
    TreeText text(tree_);
    NodeSet members;
    const Path folder = Path("sys/devices/virtual/memory_tiering/").text(name);
    if (text.read(Path(folder).text("/nodelist")) != 0) return;
    if (!parse_node_list(text.view(), members)) return;
    for (Node& node : nodes_) {
      if (members.contains(node.id)) node.kernel_tier = static_cast<std::int32_t>(*number);
    }
  }

 private:
  FileTree& tree_;
  std::span<Node> nodes_;
};

void MachineReader::read_kernel_tiers() noexcept {
  KernelTierVisitor visitor(tree_, nodes());
  static_cast<void>(tree_.list("sys/devices/virtual/memory_tiering", visitor));
}

// The size of a page is printed for every mapping of a process; that of a huge page by its policy.
void MachineReader::read_page_sizes() noexcept {
  TreeText text(tree_);
  if (text.read(Path("proc/self/smaps")) == 0) {
    std::string_view field = field_of(text.view(), "KernelPageSize");
    if (field.size() > 3) field.remove_suffix(3);  // " kB"
    const std::uint64_t kib = parse_number(field).value_or(0);
    if (kib >= 4 && kib <= 64 && std::has_single_bit(kib)) machine_.page_size = {kib * 1024};
  }
  if (text.read(Path("sys/kernel/mm/transparent_hugepage/hpage_pmd_size")) == 0) {
    const Bytes size{parse_number(text.view()).value_or(0)};
    if (size >= machine_.page_size && std::has_single_bit(size.count)) {
      machine_.huge_page_size = size;
    }
  }
}

}  // namespace

Result<Reading> read_machine(FileTree& tree) noexcept {
  const Result<NodeSet> online = nodes_online(tree);
  if (!online.ok()) return Error{online.error()};
  Reading reading;
  MachineReader(tree, reading, online.value()).read();
  CXLTIER_CHECK(is_valid(reading.machine));
  return reading;
}

}  // namespace cxltier
