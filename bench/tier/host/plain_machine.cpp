// SPDX-License-Identifier: Apache-2.0
//
// sysfs first; else /proc/meminfo and sched_getaffinity(2).
#include "bench/tier/host/plain_machine.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "runtime/topology/machine_reader.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

std::uint32_t cpus_allowed() {
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(CPU_COUNT(&mask), 1));
}

}  // namespace

Result<SeenMachine> see_machine(FileTree& tree) {
  const Result<Reading> reading = read_machine(tree);
  if (reading.ok()) return SeenMachine{reading.value().machine, true};
  const bool hidden = reading.error() == ENOENT || reading.error() == ENODEV;
  TreeText text(tree);
  if (!hidden || text.read(Path("proc/meminfo")) != 0) return Error{reading.error()};
  SeenMachine seen{{}, false};
  Node& node = seen.machine.nodes[0];
  node.id = NodeId{0};
  node.kind = NodeKind::dram;
  node.cpu_count = cpus_allowed();
  node.size = parse_meminfo(text.view(), "MemTotal:").value_or(Bytes{});
  seen.machine.node_count = 1;
  seen.machine.distance[0][0] = 10;
  return seen;
}

}  // namespace cxltier::bench
