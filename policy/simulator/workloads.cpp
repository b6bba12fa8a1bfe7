// SPDX-License-Identifier: Apache-2.0
//
// Builds each workload from popularity shapes and phases.
#include "policy/simulator/workloads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/check.h"
#include "policy/simulator/popularity.h"
#include "policy/simulator/random.h"

namespace cxltier::simulator {
namespace {

constexpr std::size_t leaves = 1024;
constexpr std::uint32_t leaf_units = 8;           // 16 MiB; 16 GiB in all
constexpr std::uint64_t items_per_leaf = 16'384;  // values of 1 KiB
constexpr double chase_lines = 1;                 // outstanding per thread
constexpr double stream_lines = 8;

// 90 % of accesses go to a part of the leaves, 10 % to the others.
Popularity hot_set(const std::vector<std::uint32_t>& order, std::size_t first, double part) {
  const auto count = static_cast<std::size_t>(part * static_cast<double>(order.size()));
  return mixed(uniform_over(order, {first, count}), 0.9,
               uniform_over(order, {first + count, order.size() - count}));
}

// A workload under construction: everything that most have in common.
struct Builder {
  const MachineModel& machine;
  const WorkloadOptions& options;
  Workload workload;
  std::vector<std::uint32_t> order;  // of leaves: scattered

  Builder(std::string_view name, const MachineModel& the_machine, const WorkloadOptions& chosen)
      : machine(the_machine), options(chosen), order(shuffled(leaves, chosen.seed)) {
    workload.name = name;
    workload.leaf_count = leaves;
    workload.leaf_units = leaf_units;
    workload.duration = seconds(120);
    workload.steady_from = seconds(60);
    const double units = leaves * leaf_units;
    const std::size_t tiers = machine.tier_count;
    // Of three tiers the middle one gets what the fastest has, but never more than the rest.
    const double fast = units / (1 + options.ratio);
    for (std::size_t t = 0; t + 1 < tiers; ++t) {
      workload.capacity_units[t] = static_cast<std::uint64_t>(fast);
    }
    workload.capacity_units[tiers - 1] = leaves * leaf_units;
  }

  [[nodiscard]] double background() const { return options.load * machine.cores / 3; }

  // The program's threads, or a part of them, with all lines that a core can have outstanding.
  AccessClass& add_class(std::string_view name, double core_share, double lines_per_core) {
    AccessClass& added = workload.classes[workload.class_count++];
    added.name = name;
    added.lines = machine.cores * core_share * lines_per_core;
    return added;
  }
  AccessClass& add_class(std::string_view name) {
    return add_class(name, 1, machine.lines_per_core);
  }

  std::size_t add(Popularity popularity) {
    workload.popularity.push_back(std::move(popularity));
    return workload.popularity.size() - 1;
  }

  Phase& add_phase(Nanoseconds start, std::array<std::size_t, classes_max> popularity) {
    workload.phases.push_back({.start = start,
                               .popularity = popularity,
                               .background_cores = background(),
                               .renewed = {}});
    return workload.phases.back();
  }
};

void gups(Builder& b) {
  b.add_class("update").write_share = 0.5;
  b.add_phase({}, {b.add(hot_set(b.order, 0, 1.0 / 3))});
}

void uniform(Builder& b) {
  b.add_class("update").write_share = 0.5;
  b.add_phase({}, {b.add(uniform_over(leaves))});
}

// Whether popular items lie together or are dealt over all leaves by hashing.
enum class Layout : std::uint8_t { clustered, scrambled };

void zipf_store(Builder& b, double skew, Layout layout) {
  AccessClass& access = b.add_class("get");
  access.write_share = 0.05;
  access.think_ns = 20;
  b.add_phase({}, {b.add(layout == Layout::scrambled
                             ? zipf_scrambled(leaves, skew, items_per_leaf, b.options.seed)
                             : zipf_clustered(b.order, skew, items_per_leaf))});
}

// A part of the hot set, up to all of it, moves away at half time.
void hot_shift(Builder& b, double part) {
  b.add_class("update").write_share = 0.5;
  b.workload.duration = seconds(160);
  b.workload.steady_from = seconds(120);
  b.workload.changed_at = seconds(60);
  constexpr std::size_t hot = leaves / 4;
  const auto moved = static_cast<std::size_t>(part * static_cast<double>(hot));
  b.add_phase({}, {b.add(hot_set(b.order, 0, 0.25))});
  b.add_phase(seconds(60), {b.add(hot_set(b.order, moved, 0.25))});
}

// The hot set wanders: 1/64 of it each two seconds.
void drift(Builder& b) {
  b.add_class("update").write_share = 0.2;
  for (std::uint64_t step = 0; step < 60; ++step) {
    b.add_phase(seconds(step * 2), {b.add(hot_set(b.order, step * 4, 0.25))});
  }
}

void contention_step(Builder& b) {
  gups(b);
  b.workload.duration = seconds(160);
  b.workload.steady_from = seconds(120);
  b.workload.changed_at = seconds(60);
  b.workload.phases.front().background_cores = 0;
  b.add_phase(seconds(60), {0});
  b.workload.phases.back().background_cores = std::max(b.background(), b.machine.cores / 3);
}

// CacheLib's background of HeMem's key-value test: 0, 5, 0, 10, 0, 15 of 15 cores.
void contention_pulses(Builder& b) {
  gups(b);
  b.workload.duration = seconds(180);
  constexpr std::array<double, 6> thirds = {0, 1, 0, 2, 0, 3};
  for (std::size_t i = 0; i < thirds.size(); ++i) {
    if (i > 0) b.add_phase(seconds(i * 30), {0});
    b.workload.phases.back().background_cores = thirds[i] * b.machine.cores / 3;
  }
}

// A reader passes once over everything, 1/64 of the memory in a second and a half, beside a skewed
// store: what it touches is not worth moving.
void scan_pollution(Builder& b) {
  AccessClass& store = b.add_class("get", 0.75, b.machine.lines_per_core);
  store.weight = 0.75;
  store.write_share = 0.05;
  AccessClass& scan = b.add_class("scan", 0.25, b.machine.lines_per_core);
  scan.weight = 0.25;
  scan.sequential_share = 1;
  const std::size_t skewed = b.add(zipf_clustered(b.order, 0.99, items_per_leaf));
  std::vector<std::uint32_t> rows(leaves);
  for (std::uint32_t i = 0; i < leaves; ++i) rows[i] = i;
  for (std::uint64_t step = 0; step < 80; ++step) {
    const std::size_t at = b.add(uniform_over(rows, {step % 64 * (leaves / 64), leaves / 64}));
    b.add_phase(milliseconds(step * 1500), {skewed, at});
  }
}

// Half of the threads chase pointers through one half, the others stream through the other half and
// access it far more often: the hot half is the one that does not mind latency (Soar, OSDI 2025).
void chase_and_stream(Builder& b) {
  AccessClass& chase = b.add_class("chase", 0.5, chase_lines);
  chase.weight = 0.5;
  AccessClass& stream = b.add_class("stream", 0.5, stream_lines);
  stream.weight = 0.5;
  stream.think_ns = 30;
  stream.sequential_share = 1;
  b.add_phase({}, {b.add(uniform_over(b.order, {0, leaves / 2})),
                   b.add(uniform_over(b.order, {leaves / 2, leaves / 2}))});
}

// Random accesses to a quarter beside a stream through everything.
void stream_and_random(Builder& b) {
  AccessClass& random = b.add_class("random", 0.5, b.machine.lines_per_core);
  random.weight = 0.5;
  AccessClass& stream = b.add_class("stream", 0.5, stream_lines);
  stream.weight = 0.5;
  stream.write_share = 1.0 / 3;
  stream.think_ns = 30;
  stream.sequential_share = 1;
  b.add_phase({}, {b.add(uniform_over(b.order, {0, leaves / 4})), b.add(uniform_over(leaves))});
}

// A small index on every access's way, chased, and values that are read once each.
void small_index(Builder& b) {
  AccessClass& index = b.add_class("index", 0.5, 2);
  index.weight = 0.5;
  AccessClass& values = b.add_class("values", 0.5, b.machine.lines_per_core);
  values.weight = 0.5;
  b.add_phase({}, {b.add(uniform_over(b.order, {0, leaves / 32})), b.add(uniform_over(leaves))});
}

// Breadth-first search by levels: the frontier's part of the edges grows and shrinks, the visited
// map (1/16 of memory) is always hot.
void bfs(Builder& b) {
  AccessClass& visit = b.add_class("visit");
  visit.write_share = 0.15;
  constexpr std::array<double, 6> frontier = {0.02, 0.10, 0.40, 0.60, 0.15, 0.03};
  constexpr std::array<std::uint64_t, 6> level_s = {2, 4, 8, 8, 4, 2};
  std::uint64_t start = 0;
  std::size_t edge = leaves / 16;
  for (std::size_t level = 0; start < 112; ++level) {
    const double part = frontier[level % frontier.size()];
    const auto count = std::max<std::size_t>(1, static_cast<std::size_t>(part * leaves));
    const Popularity edges = uniform_over(b.order, {edge, count});
    const Popularity visited = uniform_over(b.order, {0, leaves / 16});
    b.add_phase(seconds(start), {b.add(mixed(visited, 0.5, edges))});
    start += level_s[level % level_s.size()];
    edge = leaves / 16 + (edge + count) % (leaves - leaves / 16);
  }
}

// PageRank: ranks (1/8 of memory) at random, edges streamed once in each iteration of 16 s.
void pagerank(Builder& b) {
  AccessClass& ranks = b.add_class("ranks", 0.6, b.machine.lines_per_core);
  ranks.weight = 0.6;
  ranks.write_share = 0.1;
  AccessClass& edges = b.add_class("edges", 0.4, stream_lines);
  edges.weight = 0.4;
  edges.sequential_share = 1;
  edges.think_ns = 30;
  const std::size_t hot = b.add(zipf_clustered(b.order, 0.8, items_per_leaf));
  constexpr std::size_t ranks_leaves = leaves / 8;
  const std::size_t rank = b.add(uniform_over(b.order, {0, ranks_leaves}));
  constexpr std::size_t part = (leaves - ranks_leaves) / 8;
  std::array<std::size_t, 8> slice{};
  for (std::size_t i = 0; i < slice.size(); ++i) {
    slice[i] = b.add(uniform_over(b.order, {ranks_leaves + i * part, part}));
  }
  const std::size_t ranked =
      b.add(mixed(b.workload.popularity[rank], 0.8, b.workload.popularity[hot]));
  for (std::uint64_t step = 0; step < 60; ++step) {
    b.add_phase(seconds(step * 2), {ranked, slice[step % slice.size()]});
  }
}

// A log-structured store: skewed reads; each 15 s, for 3 s, it writes out its memory table and
// merges a level, streaming over cold tables.
void lsm_flush(Builder& b) {
  AccessClass& get = b.add_class("get", 0.75, b.machine.lines_per_core);
  get.weight = 0.75;
  AccessClass& flush = b.add_class("flush", 0.25, stream_lines);
  flush.weight = 0.25;
  flush.write_share = 0.5;
  flush.sequential_share = 1;
  const std::size_t skewed = b.add(zipf_clustered(b.order, 0.99, items_per_leaf));
  const std::size_t table = b.add(uniform_over(b.order, {leaves - 32, 32}));
  for (std::uint64_t round = 0; round < 8; ++round) {
    const std::size_t merged =
        b.add(uniform_over(b.order, {leaves / 2 + round * 48 % (leaves / 2 - 64), 64}));
    b.add_phase(seconds(round * 15), {skewed, table}).activity = {1, 0.25, 1, 1};
    b.add_phase(seconds(round * 15 + 12), {skewed, merged});
  }
}

// Each two seconds 1/64 of the memory is freed and allocated anew; half of the accesses go to the
// youngest quarter.
void churn(Builder& b) {
  b.add_class("visit").write_share = 0.3;
  constexpr std::size_t step_leaves = leaves / 64;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const std::size_t young = leaves + step * step_leaves - leaves / 4;
    const Popularity recent = uniform_over(b.order, {young % leaves, leaves / 4});
    Phase& phase =
        b.add_phase(seconds(step * 2), {b.add(mixed(recent, 0.75, uniform_over(leaves)))});
    if (step == 0) continue;
    for (std::size_t i = 0; i < step_leaves; ++i) {
      phase.renewed.push_back(b.order[((step - 1) * step_leaves + i) % leaves]);
    }
  }
}

// Two programs share the machine: a skewed store and a graph, half of the memory each.
void two_tenants(Builder& b) {
  AccessClass& store = b.add_class("store", 0.5, b.machine.lines_per_core);
  store.weight = 0.5;
  store.write_share = 0.05;
  AccessClass& graph = b.add_class("graph", 0.5, b.machine.lines_per_core);
  graph.weight = 0.5;
  graph.tenant = 1;
  // Each program's leaves are its own half of the addresses, first touched in turn.
  b.workload.tenant_of_leaf.resize(leaves);
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (const std::uint32_t leaf : b.order) {
    b.workload.tenant_of_leaf[leaf] = static_cast<std::uint8_t>(leaf % 2);
    (leaf % 2 == 0 ? first : second).push_back(leaf);
  }
  std::vector<std::uint32_t> graph_order = second;
  graph_order.insert(graph_order.end(), first.begin(), first.end());
  std::vector<std::uint32_t> ranks(first.size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
  const Popularity skewed = zipf_clustered(ranks, 0.99, items_per_leaf);
  Popularity own(leaves);
  for (std::size_t i = 0; i < first.size(); ++i) own[first[i]] = skewed[i];
  const Popularity graph_hot = uniform_over(graph_order, {0, leaves / 8});
  const Popularity graph_all = uniform_over(graph_order, {0, leaves / 2});
  b.add_phase({}, {b.add(std::move(own)), b.add(mixed(graph_hot, 0.6, graph_all))});
}

struct Entry {
  std::string_view name;
  void (*build)(Builder&);
};

constexpr std::array entries = {
    Entry{"gups", gups},
    Entry{"uniform", uniform},
    Entry{"zipf-0.8", [](Builder& b) { zipf_store(b, 0.8, Layout::clustered); }},
    Entry{"zipf-0.99", [](Builder& b) { zipf_store(b, 0.99, Layout::clustered); }},
    Entry{"zipf-1.2", [](Builder& b) { zipf_store(b, 1.2, Layout::clustered); }},
    Entry{"zipf-0.8-scrambled", [](Builder& b) { zipf_store(b, 0.8, Layout::scrambled); }},
    Entry{"zipf-0.99-scrambled", [](Builder& b) { zipf_store(b, 0.99, Layout::scrambled); }},
    Entry{"zipf-1.2-scrambled", [](Builder& b) { zipf_store(b, 1.2, Layout::scrambled); }},
    Entry{"shift-25", [](Builder& b) { hot_shift(b, 0.25); }},
    Entry{"shift-100", [](Builder& b) { hot_shift(b, 1); }},
    Entry{"drift", drift},
    Entry{"contention-step", contention_step},
    Entry{"contention-pulses", contention_pulses},
    Entry{"scan-pollution", scan_pollution},
    Entry{"chase-stream", chase_and_stream},
    Entry{"stream-random", stream_and_random},
    Entry{"small-index", small_index},
    Entry{"bfs", bfs},
    Entry{"pagerank", pagerank},
    Entry{"lsm-flush", lsm_flush},
    Entry{"churn", churn},
    Entry{"two-tenants", two_tenants},
};

constexpr auto names = [] {
  std::array<std::string_view, entries.size()> list{};
  for (std::size_t i = 0; i < entries.size(); ++i) list[i] = entries[i].name;
  return list;
}();

}  // namespace

std::span<const std::string_view> known_workloads() { return names; }

std::optional<Workload> make_workload(std::string_view name, const MachineModel& machine,
                                      const WorkloadOptions& options) {
  const auto entry = std::ranges::find(entries, name, &Entry::name);
  if (entry == entries.end()) return std::nullopt;
  Builder builder(name, machine, options);
  entry->build(builder);
  CXLTIER_CHECK(is_valid(builder.workload, machine));
  return std::move(builder.workload);
}

Workload make_colloid_gups(const MachineModel& machine, double background_cores, double think_ns) {
  // 960 leaves of 78 MiB; a third of them hot; 4/9 of the memory fits into the fast tier.
  constexpr std::size_t colloid_leaves = 960;
  constexpr std::uint32_t colloid_units = 39;
  Workload workload;
  workload.name = "colloid-gups";
  workload.leaf_count = colloid_leaves;
  workload.leaf_units = colloid_units;
  workload.duration = seconds(160);
  workload.steady_from = seconds(120);
  workload.capacity_units[0] = colloid_leaves * colloid_units * 4 / 9;
  workload.capacity_units[machine.tier_count - 1] = colloid_leaves * colloid_units;
  workload.class_count = 1;
  workload.classes[0].name = "update";
  workload.classes[0].lines = machine.cores * machine.lines_per_core;
  workload.classes[0].think_ns = think_ns;
  workload.classes[0].write_share = 0.5;
  const std::vector<std::uint32_t> order = shuffled(colloid_leaves, 1);
  workload.popularity.push_back(hot_set(order, 0, 1.0 / 3));
  workload.phases.push_back(
      {.start = {}, .popularity = {}, .background_cores = background_cores, .renewed = {}});
  CXLTIER_CHECK(is_valid(workload, machine));
  return workload;
}

}  // namespace cxltier::simulator
