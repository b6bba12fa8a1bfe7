// SPDX-License-Identifier: Apache-2.0
//
// Loaded latency: one thread chases on its own core while the others load the same node, with a
// delay between their lines that sets the rate.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/tier/mode/loaded_latency.h"
#include "bench/tier/verdict/curve_reading.h"

namespace cxltier::bench {
namespace {

constexpr std::uint32_t brief_delays[] = {0, 50, 100, 200, 400, 700, 1300, 5000};

// The chase runs on the first core of the nearest node, alone; loads run on that node's other
// cores, and where there are none, on those of other nodes.
LoadedUse use_of_node(Session& session, int memory_node) {
  const NodeProcessors& own = session.cpu_node(session.nearest_cpu_node(memory_node));
  LoadedUse use;
  use.node = memory_node;
  use.latency_cpu = own.cpus.front();
  use.cpu_node = static_cast<int>(index_of(own.node));
  use.load_cpus.assign(own.cpus.begin() + 1, own.cpus.end());
  if (use.load_cpus.empty()) {
    for (const NodeProcessors& other : session.processors.nodes) {
      if (other.node == own.node) continue;
      use.load_cpus.insert(use.load_cpus.end(), other.cpus.begin(), other.cpus.end());
    }
    if (!use.load_cpus.empty()) {
      session.say(fmt::format("node {}: one core only, so the load comes from other nodes' cores",
                              use.cpu_node));
    }
  }
  const std::size_t most = session.options.threads;
  if (most != 0 && use.load_cpus.size() > most) use.load_cpus.resize(most);
  return use;
}

Task point_task(Session& session, const LoadedUse& use, const Mix& mix, std::uint32_t delay) {
  Task task;
  task.cell = loaded_cell(session, use, "curve", fmt::format("{}/d{}", mix.name, delay));
  task.cell.label = fmt::format("node {}, {}, delay {}", use.node, mix.name, delay);
  task.cell.mix = mix.name;
  task.cell.delay = static_cast<int>(delay);
  const std::vector<LoadOrder> orders(
      use.load_cpus.size(),
      LoadOrder{use.team->buffer_of.at(use.node), mix, delay, LoadOrder::State::running});
  task.cpu = static_cast<int>(use.latency_cpu);
  task.measure = [&session, use, orders] {
    return sample_loaded(session, use, orders, std::nullopt);
  };
  task.finish = [&session, use](Cell& cell) { finish_loaded(session, use, {use.node}, cell); };
  return task;
}

void check_point(const Session& session, Cell& cell) {
  const auto add = [&](Flags flags) {
    for (Flag& flag : flags) cell.flags.push_back(std::move(flag));
  };
  add(check_latency_floor(cell.label, cell.summary.median,
                          session.document.settings.llc_latency_ns));
  add(check_bandwidth_peak(cell.label, cell.companion.median,
                           session.ceiling_of_nodes(cell.nodes, cell.mix),
                           session.node(cell.nodes.front()).firmware_read_gbps));
  const std::optional<Mix> mix = find_mix(cell.mix);
  if (!mix || mix->store == Mix::Store::non_temporal) return;
  add(check_little(cell.label, cell.companion.median, cell.summary.median, cell.threads + 1));
}

// One curve's cells, in the order of rising load.
void check_curve_of(Session& session, std::vector<Cell*>& cells) {
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
  const Cell& first = *cells.front();
  const std::string subject = fmt::format("curve of node {}, {}", first.nodes.front(), first.mix);
  for (Flag& flag : check_curve(subject, points, noise)) {
    cells.back()->flags.push_back(std::move(flag));
  }
  const std::string line = reading_of(points);
  if (line.empty()) return;
  session.document.findings.push_back(
      fmt::format("node {}, {}: {}", first.nodes.front(), first.mix, line));
}

void check_curves(Session& session) {
  std::map<std::string, std::vector<Cell*>> curves;
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "curve" || cell.delay < 0) continue;
    curves[fmt::format("{}/{}", cell.nodes.front(), cell.mix)].push_back(&cell);
    check_point(session, cell);
  }
  for (auto& [name, cells] : curves) check_curve_of(session, cells);
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
    LoadedUse use = use_of_node(session, node);
    use.place = session.chase_on(node, ChaseOrder::page_local, session.options.pages);
    if (use.load_cpus.empty() || use.place == nullptr) continue;
    const std::vector<int> wanted =
        extent == Extent::brief ? std::vector<int>{node} : session.nodes();
    use.team = &session.team_on(fmt::format("curve from {}", use.cpu_node), use.load_cpus, wanted);
    if (use.team->buffer_of.count(node) == 0) continue;
    for (const Mix& mix : mixes) {
      for (const std::uint32_t delay : delays_of(session, extent)) {
        part.tasks.push_back(point_task(session, use, mix, delay));
      }
    }
    if (extent == Extent::brief) continue;
    for (const auto& [other, buffer] : use.team->buffer_of) {
      if (other == node) continue;
      add_interference(session, use, other, delays_of(session, Extent::brief), part.tasks);
    }
  }
  part.conclude = [](Session& done) {
    check_curves(done);
    report_interference(done);
  };
  return part;
}

}  // namespace cxltier::bench
