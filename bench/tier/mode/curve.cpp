// SPDX-License-Identifier: Apache-2.0
//
// Loaded latency: one thread chases on its own core while the others load the same node, with a
// delay between their lines that sets the rate; and what loading another node does to it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

constexpr std::uint32_t brief_delays[] = {0, 50, 100, 200, 400, 700, 1300, 5000};

struct CurveCpus {
  unsigned latency = 0;
  int latency_node = 0;
  std::vector<unsigned> load;
};

// The chase runs on the first core of the nearest node, alone; loads run on that node's other
// cores, and where there are none, on those of other nodes.
CurveCpus curve_cpus(Session& session, int memory_node) {
  const std::size_t nearest = session.nearest_cpu_node(memory_node);
  const NodeProcessors& own = session.cpu_node(nearest);
  CurveCpus cpus;
  cpus.latency = own.cpus.front();
  cpus.latency_node = static_cast<int>(index_of(own.node));
  cpus.load.assign(own.cpus.begin() + 1, own.cpus.end());
  if (cpus.load.empty()) {
    for (const NodeProcessors& other : session.processors.nodes) {
      if (other.node == own.node) continue;
      cpus.load.insert(cpus.load.end(), other.cpus.begin(), other.cpus.end());
    }
    if (!cpus.load.empty()) {
      session.say(fmt::format("node {}: one core only, so the load comes from other nodes' cores",
                              cpus.latency_node));
    }
  }
  const std::size_t most = session.options.threads;
  if (most != 0 && cpus.load.size() > most) cpus.load.resize(most);
  return cpus;
}

// Latency on `place` while the team runs its orders; the rate is that of one buffer, or of all.
Measured sample_loaded(Session& session, PlacedChase& place, LoadTeam& team,
                       const std::vector<LoadOrder>& orders, std::optional<std::size_t> buffer) {
  team.start(orders);
  session.sample_latency(place.chase, 1, std::min(10.0, session.options.sample_ms));
  const std::vector<LoadCount> from = team.count();
  const double latency = session.sample_latency(place.chase, 1, session.options.sample_ms);
  const std::vector<LoadCount> to = team.count();
  team.stop();
  return {latency, team.rate(from, to, buffer).traffic_gbps};
}

Cell loaded_cell(const Session& session, const std::string& id, int cpu_node, int memory_node) {
  Cell cell;
  cell.mode = "curve";
  cell.id = id;
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.companion_unit = "GB/s";
  cell.cpu_node = cpu_node;
  cell.nodes = {memory_node};
  cell.pages = name_of(session.options.pages);
  return cell;
}

struct CurveUse {
  PlacedChase* place = nullptr;
  PlacedTeam* team = nullptr;
  CurveCpus cpus;
  int node = 0;
};

Task point_task(Session& session, const CurveUse& use, const Mix& mix, std::uint32_t delay) {
  Task task;
  task.cell = loaded_cell(
      session,
      fmt::format("curve/cpu{}/node{}/{}/d{}", use.cpus.latency_node, use.node, mix.name, delay),
      use.cpus.latency_node, use.node);
  task.cell.label = fmt::format("node {}, {}, delay {}", use.node, mix.name, delay);
  task.cell.mix = mix.name;
  task.cell.delay = static_cast<int>(delay);
  task.cell.threads = use.cpus.load.size();
  const std::vector<LoadOrder> orders(
      use.cpus.load.size(),
      LoadOrder{use.team->buffer_of.at(use.node), mix, delay, LoadOrder::State::running});
  task.cpu = static_cast<int>(use.cpus.latency);
  task.measure = [&session, use, orders] {
    return sample_loaded(session, *use.place, *use.team->team, orders, std::nullopt);
  };
  task.finish = [&session, use](Cell& cell) {
    session.finish_chase(cell, *use.place, session.options.pages);
  };
  return task;
}

// Half of the threads (all but one of two) load `other`, the rest load `use.node` or nothing.
std::vector<LoadOrder> pair_orders(const CurveUse& use, int other, LoadOrder::State others) {
  const Mix read = *find_mix("R");
  const std::size_t threads = use.cpus.load.size();
  const std::size_t own = threads / 2;
  std::vector<LoadOrder> orders;
  for (std::size_t i = 0; i < threads; ++i) {
    const bool is_own = i < own;
    orders.push_back({use.team->buffer_of.at(is_own ? use.node : other), read, 0,
                      is_own ? LoadOrder::State::running : others});
  }
  return orders;
}

void add_pair(Session& session, const CurveUse& use, int other, std::vector<Task>& tasks) {
  for (const LoadOrder::State state : {LoadOrder::State::idle, LoadOrder::State::running}) {
    const bool loaded = state == LoadOrder::State::running;
    const std::vector<LoadOrder> orders = pair_orders(use, other, state);
    Task task;
    task.cell = loaded_cell(session,
                            fmt::format("interference/cpu{}/node{}/{}{}", use.cpus.latency_node,
                                        use.node, loaded ? "with" : "without", other),
                            use.cpus.latency_node, use.node);
    task.cell.mode = "interference";
    task.cell.label =
        fmt::format("node {} {} load on node {}", use.node, loaded ? "with" : "without", other);
    task.cell.nodes = {use.node, other};
    task.cell.mix = "R";
    task.cell.threads = orders.size();
    const std::size_t buffer = use.team->buffer_of.at(use.node);
    task.cpu = static_cast<int>(use.cpus.latency);
    task.measure = [&session, use, orders, buffer] {
      return sample_loaded(session, *use.place, *use.team->team, orders, buffer);
    };
    tasks.push_back(std::move(task));
  }
}

void check_curves(Session& session) {
  std::map<std::string, std::vector<Cell*>> curves;
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "curve" || cell.delay < 0) continue;
    curves[fmt::format("{}/{}", cell.nodes.front(), cell.mix)].push_back(&cell);
    const std::optional<Mix> mix = find_mix(cell.mix);
    if (mix && mix->store == Mix::Store::non_temporal) continue;
    for (Flag& flag :
         check_little(cell.label, cell.companion.median, cell.summary.median, cell.threads + 1)) {
      cell.flags.push_back(std::move(flag));
    }
  }
  for (auto& [name, cells] : curves) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell* a, const Cell* b) { return a->delay > b->delay; });
    std::vector<CurvePoint> points;
    double noise = 0.05;
    for (const Cell* cell : cells) {
      points.push_back(
          {static_cast<double>(cell->delay), cell->summary.median, cell->companion.median});
      const Summary& s = cell->summary;
      if (s.median > 0) noise = std::max(noise, (s.interval.high - s.interval.low) / s.median);
    }
    const std::string subject =
        fmt::format("curve of node {}, {}", cells.front()->nodes.front(), cells.front()->mix);
    for (Flag& flag : check_curve(subject, points, noise)) {
      cells.back()->flags.push_back(std::move(flag));
    }
  }
}

void report_interference(Session& session) {
  for (const Cell& with : session.document.cells) {
    const std::size_t at = with.id.find("/with");
    if (with.mode != "interference" || at == std::string::npos || with.nodes.size() != 2) continue;
    if (with.id.find("/without") != std::string::npos) continue;
    const Cell* without =
        session.document.find(with.id.substr(0, at) + "/without" + with.id.substr(at + 5));
    if (without == nullptr || without->summary.median <= 0) continue;
    std::string line =
        fmt::format("load on node {} makes node {} answer in {:.0f} ns instead of {:.0f}",
                    with.nodes[1], with.nodes[0], with.summary.median, without->summary.median);
    if (without->companion.median > 0) {
      line += fmt::format(" and give {:.1f} GB/s instead of {:.1f}", with.companion.median,
                          without->companion.median);
    }
    session.document.findings.push_back(std::move(line));
  }
}

std::vector<std::uint32_t> delays_of(const Session& session, Extent extent) {
  if (!session.options.delays.empty()) return session.options.delays;
  if (session.options.smoke) return {0, 1000};
  if (extent == Extent::brief) return {std::begin(brief_delays), std::end(brief_delays)};
  return {std::begin(curve_delays), std::end(curve_delays)};
}

}  // namespace

ModePart curve_part(Session& session, Extent extent) {
  ModePart part;
  const std::vector<Mix> mixes = extent == Extent::brief ? std::vector<Mix>{*find_mix("R")}
                                                         : mixes_or(session, {"R", "2:1", "1:1"});
  for (const int node : session.nodes()) {
    CurveUse use;
    use.node = node;
    use.cpus = curve_cpus(session, node);
    use.place = session.chase_on(node, ChaseOrder::page_local, session.options.pages);
    if (use.cpus.load.empty() || use.place == nullptr) continue;
    const std::vector<int> wanted =
        extent == Extent::brief ? std::vector<int>{node} : session.nodes();
    use.team = &session.team_on(fmt::format("curve from {}", use.cpus.latency_node), use.cpus.load,
                                wanted);
    if (use.team->buffer_of.count(node) == 0) continue;
    for (const Mix& mix : mixes) {
      for (const std::uint32_t delay : delays_of(session, extent)) {
        part.tasks.push_back(point_task(session, use, mix, delay));
      }
    }
    if (extent == Extent::brief) continue;
    for (const auto& [other, buffer] : use.team->buffer_of) {
      if (other != node) add_pair(session, use, other, part.tasks);
    }
  }
  part.conclude = [](Session& done) {
    check_curves(done);
    report_interference(done);
  };
  return part;
}

}  // namespace cxltier::bench
