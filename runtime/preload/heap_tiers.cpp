// SPDX-License-Identifier: Apache-2.0
//
// The machine, as the heap wants it.
#include "runtime/preload/heap_tiers.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "cxltier/tier_heap.hpp"
#include "runtime/os/file_tree_linux.h"
#include "runtime/os/memory_policy_linux.h"
#include "runtime/os/own_thread.h"
#include "runtime/os/syscall_probe.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tier_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

static_assert(heap::tiers_max == tiers_max && heap::node_ids_max == node_ids_max);

// The user's order of tiers, as text.
constinit std::array<char, 128> chosen_tiers{};
static_assert(sizeof chosen_tiers == sizeof Settings::tiers);

// Runs `body(argument)` on a thread of its own and waits for it; errno stays.
void run_apart(void* (*body)(void*), void* argument) noexcept {
  const int saved_errno = errno;
  const Result<pthread_t> thread = start_own_thread(body, argument);
  if (thread.ok()) pthread_join(thread.value(), nullptr);
  errno = saved_errno;
}

TierMap tiers_of(const Machine& machine, const NodeSet& own) noexcept {
  if (chosen_tiers[0] != '\0') {
    const ParsedTiers chosen = parse_tiers(chosen_tiers.data(), machine);
    if (chosen.ok()) return chosen.tiers;  // a wrong one is reported by the controller
  }
  return assign_tiers(machine, own);
}

void add_node(heap::Tier& tier, const Node& node) noexcept {
  const bool first = tier.size_bytes == 0;
  const std::size_t id = index_of(node.id);
  tier.nodes.words[id / 64] |= std::uint64_t{1} << (id % 64);
  tier.size_bytes += node.size.count;
  tier.dram = (first || tier.dram) && node.kind == NodeKind::dram;
  tier.latency_ns = std::max(tier.latency_ns, node.performance.read_latency_ns);
  tier.bandwidth_mbps += node.performance.read_bandwidth_mbps;
}

// Tries the calls that placing needs on a page of its own.
void probe(heap::TierTable& out, std::size_t page_size) noexcept {
  void* page = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  *static_cast<volatile char*>(page) = 1;
  const auto works = [&](ProbedCall call) {
    return probe_call(call, page, page_size).kind == ProbeVerdict::Kind::works;
  };
  out.moving_permitted = works(ProbedCall::move_pages);
  if (works(ProbedCall::mbind) && works(ProbedCall::get_mempolicy)) {
    // Somebody's policy for the whole process (numactl, a service) is not overruled.
    const Result<PolicyOwner> owner = owner_of_thread_policy();
    out.binding_permitted = owner.ok() && owner.value() == PolicyOwner::nobody;
  }
  munmap(page, page_size);
}

void fill(heap::TierTable& out) noexcept {
  FileTreeLinux files("/");
  Result<Reading> reading = read_machine(files);
  if (!reading.ok()) return;
  const ProcessNodes mine = read_process_nodes(files).value_or({});
  Machine machine = reading.value().machine;
  for (Node& node : std::span(machine.nodes).first(machine.node_count)) {
    if (!mine.allowed.empty() && !mine.allowed.contains(node.id)) node.size = {};
  }
  const TierMap tiers = tiers_of(machine, mine.own);
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (tiers.tier_of[i] == tier_none || machine.nodes[i].size.count == 0) continue;
    add_node(out.tiers[index_of(tiers.tier_of[i])], machine.nodes[i]);
    out.memory_bytes += machine.nodes[i].size.count;
  }
  out.memory_bytes *= 2;  // addresses, not memory; freed ranges are not always used again at once
  out.tier_count = tiers.tier_count;
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  out.cpu_count = cpus > 0 ? static_cast<unsigned>(cpus) : 1;
  probe(out, machine.page_size.count);
}

void* fill_on_thread(void* table) noexcept {
  if (own_descriptor_table().ok()) fill(*static_cast<heap::TierTable*>(table));
  return nullptr;
}

void fill_apart(heap::TierTable& out) noexcept { run_apart(fill_on_thread, &out); }

using FreeByTier = std::array<std::uint64_t, heap::tiers_max>;

void* read_free_on_thread(void* argument) noexcept {
  auto& out = *static_cast<FreeByTier*>(argument);
  if (!own_descriptor_table().ok()) return nullptr;
  FileTreeLinux files("/");
  const Result<Reading> reading = read_machine(files);
  if (!reading.ok()) return nullptr;
  const Machine& machine = reading.value().machine;
  const TierMap tiers = tiers_of(machine, read_process_nodes(files).value_or({}).own);
  TreeText text(files);
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (tiers.tier_of[i] == tier_none) continue;
    const std::size_t id = index_of(machine.nodes[i].id);
    if (text.read(Path("sys/devices/system/node/node").number(id).text("/meminfo")) != 0) continue;
    const std::optional<Bytes> free = parse_meminfo(text.view(), "MemFree:");
    if (free) out[index_of(tiers.tier_of[i])] += free->count;
  }
  return nullptr;
}

void read_free(FreeByTier& out) noexcept { run_apart(read_free_on_thread, &out); }

}  // namespace

void offer_heap_tiers(const Settings& settings) noexcept {
  chosen_tiers = settings.tiers;
  heap::set_tier_source(fill_apart);
  heap::set_free_bytes_source(read_free);
}

}  // namespace cxltier
