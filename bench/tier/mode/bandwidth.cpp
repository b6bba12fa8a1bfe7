// SPDX-License-Identifier: Apache-2.0
//
// Bandwidth: a team of one thread per core, each with a buffer of its own on the asked node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

// A team that is shared by many tasks: by name in the session.
struct TeamUse {
  PlacedTeam* team = nullptr;
  int node = 0;
  Mix mix;
  std::size_t threads = 0;  // that load; the others rest
};

std::vector<LoadOrder> orders_of(const TeamUse& use) {
  std::vector<LoadOrder> orders(use.team->team->size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    orders[i] = {use.team->buffer_of.at(use.node), use.mix, 0,
                 i < use.threads ? LoadOrder::State::running : LoadOrder::State::idle};
  }
  return orders;
}

Task bandwidth_task(Session& session, Cell cell, const TeamUse& use) {
  Task task;
  task.cell = std::move(cell);
  task.measurer = Measurer::team;
  task.cell.threads = use.threads;
  task.cell.pages = name_of(session.options.pages);
  task.measure = [&session, use, orders = orders_of(use)] {
    const LoadRate rate = session.sample_rate(*use.team->team, orders, session.options.sample_ms);
    return Measured{rate.traffic_gbps, rate.application_gbps};
  };
  task.finish = [&session, use](Cell& done) {
    session.finish_team(done, *use.team, use.node, use.threads);
    if (use.mix.store == Mix::Store::non_temporal && !session.kernel->has_nt_stores) {
      session.say("no non-temporal stores here: nt mixes are ordinary stores, counted as such");
    }
  };
  return task;
}

// Why a node's theoretical peak is not known.
const char* why_unknown(const Session& session, int node) {
  if (session.document.machine.hypervisor != "none") return "a virtual machine does not show it";
  if (session.node(node).kind == "cxl") return "the link of a CXL card does not show its speed";
  if (::geteuid() != 0) return "firmware's table of memory modules is for root";
  return "firmware's table of memory modules does not say it";
}

void state_peak(Session& session, int node) {
  if (session.options.peaks.count(node) != 0) return;
  const auto found = session.peaks.find(node);
  if (found == session.peaks.end()) {
    session.say(fmt::format(
        "node {}: bandwidth is not checked against a theoretical peak: {}; give it with --peak {}="
        "GB/s",
        node, why_unknown(session, node), node));
    return;
  }
  session.say(
      fmt::format("node {}: bandwidth is checked against {:.1f} GB/s{}, from {}: an upper "
                  "bound; give the exact one with --peak",
                  node, found->second.gbps, found->second.full_duplex ? " each way" : "",
                  found->second.source));
}

// Little's law with the idle latency, below which none is under load: what it allows at most.  Only
// reads are waited for.
void check_lines(const Session& session, Cell& cell) {
  const Cell* idle =
      session.document.find(fmt::format("latency/cpu{}/node{}/{}/page_local/1", cell.cpu_node,
                                        cell.nodes.front(), name_of(session.options.pages)));
  const std::optional<Mix> mix = find_mix(cell.mix);
  if (idle == nullptr || !mix || mix->store == Mix::Store::non_temporal) return;
  const double reads = mix->traffic_reads();
  const double gbps = cell.summary.median * reads / (reads + mix->stores);
  for (Flag& flag : check_little(cell.label, gbps, idle->summary.median, cell.threads)) {
    cell.flags.push_back(std::move(flag));
  }
}

void check_peaks(Session& session) {
  for (Cell& cell : session.document.cells) {
    if (cell.quantity != "bandwidth" || cell.nodes.size() != 1) continue;
    for (Flag& flag : check_bandwidth_peak(cell.label, cell.summary.median,
                                           session.ceiling_of_nodes(cell.nodes, cell.mix),
                                           session.node(cell.nodes.front()).firmware_read_gbps)) {
      cell.flags.push_back(std::move(flag));
    }
    check_lines(session, cell);
  }
  for (const int node : session.nodes()) state_peak(session, node);
}

std::vector<std::size_t> thread_steps(std::size_t most) {
  std::set<std::size_t> steps = {most};
  for (std::size_t n = 1; n < most; n *= 2) steps.insert(n);
  return {steps.begin(), steps.end()};
}

}  // namespace

ModePart bandwidth_part(Session& session, Extent extent) {
  ModePart part;
  const std::vector<Mix> mixes =
      extent == Extent::brief ? mixes_or(session, {"R", "2:1", "1:1", "W-nt", "triad"})
                              : mixes_or(session, {"R", "2:1", "3:1", "3:2", "1:1", "4:1", "W-nt",
                                                   "2:1nt", "1:1nt", "3:1nt", "triad", "triad-nt"});
  for (std::size_t cpu = 0; cpu < session.processors.nodes.size(); ++cpu) {
    const int cpu_node = static_cast<int>(index_of(session.cpu_node(cpu).node));
    const std::vector<unsigned> cpus = load_cpus(session, cpu);
    PlacedTeam& team =
        session.team_on(fmt::format("bandwidth from {}", cpu_node), cpus, session.nodes());
    for (const auto& [node, buffer] : team.buffer_of) {
      const bool nearest = session.nearest_cpu_node(node) == cpu;
      for (const Mix& mix : mixes) {
        // The overview has the whole matrix for reads, and the other mixes from the nearest CPUs.
        if (extent == Extent::brief && !nearest && mix.name != "R") continue;
        part.tasks.push_back(bandwidth_task(session,
                                            bandwidth_cell("bandwidth", cpu_node, node, mix),
                                            {&team, node, mix, cpus.size()}));
      }
    }
  }
  part.conclude = check_peaks;
  return part;
}

ModePart peak_part(Session& session) {
  ModePart part;
  std::vector<unsigned> cpus;
  for (std::size_t cpu = 0; cpu < session.processors.nodes.size(); ++cpu) {
    const std::vector<unsigned> more = load_cpus(session, cpu);
    cpus.insert(cpus.end(), more.begin(), more.end());
  }
  PlacedTeam& team = session.team_on("peak", cpus, session.nodes());
  for (const auto& [node, buffer] : team.buffer_of) {
    for (const Mix& mix : mixes_or(session, {"R", "3:1", "2:1", "1:1", "triad", "W-nt"})) {
      Cell cell = bandwidth_cell("peak", -1, node, mix);
      cell.id = fmt::format("peak/node{}/{}", node, mix.name);
      cell.label = fmt::format("node {} from all CPUs, {}", node, mix.name);
      part.tasks.push_back(
          bandwidth_task(session, std::move(cell), {&team, node, mix, cpus.size()}));
    }
  }
  part.conclude = check_peaks;
  return part;
}

ModePart scaling_part(Session& session) {
  ModePart part;
  for (const int node : session.nodes()) {
    const std::size_t cpu = session.nearest_cpu_node(node);
    const int cpu_node = static_cast<int>(index_of(session.cpu_node(cpu).node));
    const std::vector<unsigned> cpus = load_cpus(session, cpu);
    PlacedTeam& team = session.team_on(fmt::format("bandwidth from {}", cpu_node), cpus, {node});
    if (team.buffer_of.count(node) == 0) continue;
    for (const Mix& mix : mixes_or(session, {"R", "1:1"})) {
      for (const std::size_t threads : thread_steps(cpus.size())) {
        Cell cell = bandwidth_cell("scaling", cpu_node, node, mix);
        cell.id += fmt::format("/{}t", threads);
        cell.label += fmt::format(", {} threads", threads);
        part.tasks.push_back(bandwidth_task(session, std::move(cell), {&team, node, mix, threads}));
      }
    }
  }
  part.conclude = check_peaks;
  return part;
}

}  // namespace cxltier::bench
