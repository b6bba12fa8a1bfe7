// SPDX-License-Identifier: Apache-2.0
//
// Idle latency: one chase per memory node, run from each CPU node.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

const char* name_of(ChaseOrder order) {
  return order == ChaseOrder::whole ? "whole" : "page_local";
}

Cell latency_cell(const Session& session, int cpu_node, int memory_node, ChaseOrder order,
                  std::size_t chains) {
  Cell cell;
  cell.mode = "latency";
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.cpu_node = cpu_node;
  cell.nodes = {memory_node};
  cell.pages = bench::name_of(session.options.pages);
  cell.threads = 1;
  cell.id = fmt::format("latency/cpu{}/node{}/{}/{}/{}", cpu_node, memory_node, cell.pages,
                        name_of(order), chains);
  if (session.options.spacing != chase_spacing) {
    cell.id += fmt::format("/s{}", session.options.spacing);
  }
  cell.label = fmt::format("node {} from CPU node {}, {}{}", memory_node, cpu_node, name_of(order),
                           chains > 1 ? fmt::format(", {} chains", chains) : "");
  cell.extra["chains"] = static_cast<double>(chains);
  return cell;
}

// Single batches of 8 loads: what a mean hides.
void add_distribution(Session& session, PlacedChase& place, Cell& cell) {
  Histogram ticks;
  const double idle = std::max(cell.samples.empty() ? 100 : cell.samples.back().value, 1.0);
  const double batches = session.options.smoke ? 1e3 : 4e8 / idle / Chase::loads_per_batch;
  place.chase.run_batches(static_cast<std::uint64_t>(std::clamp(batches, 1e3, 5e5)), session.timer,
                          ticks);
  constexpr std::array<std::pair<const char*, double>, 5> quantiles = {{{"p50_ns", 0.5},
                                                                        {"p90_ns", 0.9},
                                                                        {"p99_ns", 0.99},
                                                                        {"p99.9_ns", 0.999},
                                                                        {"p99.99_ns", 0.9999}}};
  const double loads = static_cast<double>(Chase::loads_per_batch);
  for (const auto& [name, q] : quantiles) {
    cell.extra[name] = ticks.quantile(q) * session.timer.ns_per_tick / loads;
  }
  cell.extra["batches"] = static_cast<double>(ticks.count());
}

Task latency_task(Session& session, std::size_t cpu_index, int memory_node, ChaseOrder order,
                  std::size_t chains) {
  const NodeProcessors& from = session.cpu_node(cpu_index);
  const unsigned cpu = from.cpus.front();
  PlacedChase* place = session.chase_on(memory_node, order, session.options.pages);
  Task task;
  task.cell =
      latency_cell(session, static_cast<int>(index_of(from.node)), memory_node, order, chains);
  task.cpu = static_cast<int>(cpu);
  task.measure = [&session, place, chains] {
    return Measured{session.sample_latency(place->chase, chains, session.options.sample_ms), 0};
  };
  task.finish = [&session, cpu, place, chains](Cell& cell) {
    pin_thread(cpu);
    if (chains == 1) add_distribution(session, *place, cell);
    session.finish_chase(cell, *place, session.options.pages);
  };
  return task;
}

double firmware_latency_ns(const Session& session, const Cell& cell) {
  const int node = cell.nodes.front();
  const auto nearest = session.cpu_node(session.nearest_cpu_node(node)).node;
  // Firmware's figure is that of the nearest initiator.
  if (static_cast<int>(index_of(nearest)) != cell.cpu_node) return 0;
  return session.node(node).firmware_latency_ns;
}

void check_cells(Session& session) {
  // By CPU node, pages, order: the cells that may be set in order.
  std::map<std::string, std::vector<Cell*>> groups;
  const double llc_ns = session.document.settings.llc_latency_ns;
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "latency" || cell.extra["chains"] != 1) continue;
    const auto add = [&](Flags flags) {
      for (Flag& flag : flags) cell.flags.push_back(std::move(flag));
    };
    add(check_latency_floor(cell.label, cell.summary.median, llc_ns));
    const bool page_local = cell.id.find("page_local") != std::string::npos;
    if (page_local) {
      add(check_firmware_latency(cell.label, cell.summary.median,
                                 firmware_latency_ns(session, cell)));
    }
    groups[fmt::format("{}/{}", cell.cpu_node, page_local)].push_back(&cell);
  }
  const auto caches = static_cast<double>(session.processors.llc_total_bytes);
  for (auto& [key, cells] : groups) {
    std::vector<NodeLatency> nodes;
    auto buffer = BufferAgainstCaches::larger;
    for (const Cell* cell : cells) {
      nodes.push_back({cell->label, session.distance_of(cell->cpu_node, cell->nodes.front()),
                       cell->summary.median});
      if (cell->extra.at("buffer_bytes") < caches) buffer = BufferAgainstCaches::smaller;
    }
    for (Flag& flag : check_latency_order(nodes, buffer)) {
      const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell* cell) {
        return cell->label == flag.subject;
      });
      (*found)->flags.push_back(std::move(flag));
    }
  }
}

}  // namespace

ModePart latency_part(Session& session, Extent extent) {
  ModePart part;
  std::vector<ChaseOrder> orders = session.options.orders;
  if (orders.empty()) orders = {ChaseOrder::page_local, ChaseOrder::whole};
  const std::vector<std::size_t> chains =
      extent == Extent::brief ? std::vector<std::size_t>{1} : session.options.chains;
  for (std::size_t cpu = 0; cpu < session.processors.nodes.size(); ++cpu) {
    for (const int node : session.nodes()) {
      for (const ChaseOrder order : orders) {
        if (session.chase_on(node, order, session.options.pages) == nullptr) continue;
        for (const std::size_t count : chains) {
          part.tasks.push_back(latency_task(session, cpu, node, order, count));
        }
      }
    }
  }
  part.conclude = check_cells;
  return part;
}

}  // namespace cxltier::bench
