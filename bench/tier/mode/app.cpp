// SPDX-License-Identifier: Apache-2.0
//
// Small programs on each node's memory: how much a tier costs depends on what one does with it.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "bench/tier/kernel/app_kernels.h"
#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

// One buffer per node and program, since each lays it out its own way.
struct Place {
  std::optional<Buffer> buffer;
  unsigned cpu = 0;
  [[nodiscard]] std::span<std::byte> bytes() const { return buffer->bytes(); }
};

std::shared_ptr<Place> make_place(Session& session, int node) {
  auto place = std::make_shared<Place>();
  int error = 0;
  place->cpu = session.cpu_node(session.nearest_cpu_node(node)).cpus.front();
  place->buffer = Buffer::make(
      {session.used_bytes(), session.options.pages, {{static_cast<NodeId>(node), 1}}}, error);
  if (place->buffer) return place;
  session.say(fmt::format("node {}: no room for a program's memory", node));
  return nullptr;
}

Cell app_cell(const char* program, const char* unit, int node) {
  Cell cell;
  cell.mode = "app";
  cell.id = fmt::format("app/{}/node{}", program, node);
  cell.label = fmt::format("{} on node {}", program, node);
  cell.quantity = "rate";
  cell.unit = unit;
  cell.better = Better::higher;
  cell.nodes = {node};
  cell.threads = 1;
  return cell;
}

// How much work fits a sample is found by doing: `work` does `count` units and returns seconds.
template <typename Work>
double rate_of(double window_ms, std::uint64_t step, Work work) {
  double seconds = 0;
  std::uint64_t done = 0;
  while (seconds < window_ms / 1000) {
    const double begun = now_s();
    work(step);
    seconds += now_s() - begun;
    done += step;
  }
  return static_cast<double>(done) / seconds;
}

Task triad_task(Session& session, const std::shared_ptr<Place>& place, int node) {
  Task task;
  task.cell = app_cell("triad", "GB/s", node);
  const std::size_t count = place->bytes().size() / (3 * sizeof(double)) / 8 * 8;
  auto* const a = reinterpret_cast<double*>(place->bytes().data());
  task.measure = [&session, place, a, count] {
    const double passes = rate_of(session.options.sample_ms, 1, [&](std::uint64_t) {
      stream_triad({a, a + count, a + 2 * count}, 3.0, count);
    });
    return Measured{passes * static_cast<double>(count) * 24e-9, 0};
  };
  return task;
}

Task updates_task(Session& session, const std::shared_ptr<Place>& place, int node) {
  Task task;
  task.cell = app_cell("random_updates", "M/s", node);
  auto* const words = reinterpret_cast<std::uint64_t*>(place->bytes().data());
  const std::span<std::uint64_t> table(words, place->bytes().size() / 8);
  auto seed = std::make_shared<std::uint64_t>(session.options.seed);
  task.measure = [&session, place, table, seed] {
    const double rate = rate_of(session.options.sample_ms, 50'000, [&](std::uint64_t updates) {
      *seed += random_updates(table, updates, HotSet{}, *seed) + 1;
    });
    return Measured{rate * 1e-6, 0};
  };
  return task;
}

Task zipf_task(Session& session, const std::shared_ptr<Place>& place, int node) {
  Task task;
  task.cell = app_cell("zipf_chase", "M/s", node);
  std::memset(place->bytes().data(), 0, place->bytes().size());
  auto visits =
      std::make_shared<std::vector<std::uint32_t>>(session.options.smoke ? 4096 : 200'000);
  fill_zipf_visits(*visits, place->bytes().size() / 64, session.options.seed);
  task.measure = [&session, place, visits] {
    const double passes = rate_of(session.options.sample_ms, 1, [&](std::uint64_t) {
      const std::uint64_t last = zipf_chase(place->bytes().data(), *visits);
      asm volatile("" ::"r"(last));
    });
    return Measured{passes * static_cast<double>(visits->size()) * 1e-6, 0};
  };
  return task;
}

void add_graph_tasks(Session& session, const std::shared_ptr<Place>& place, int node,
                     std::vector<Task>& tasks) {
  // A quarter of the buffer: a whole search is one unit of work.
  auto graph = std::make_shared<Graph>(
      make_graph(place->bytes().first(place->bytes().size() / 4), session.options.seed));
  Task search;
  search.cell = app_cell("bfs", "M edges/s", node);
  search.measure = [&session, place, graph] {
    const double searches = rate_of(session.options.sample_ms, 1,
                                    [&](std::uint64_t) { (void)breadth_first(*graph, 0); });
    return Measured{searches * static_cast<double>(graph->targets.size()) * 1e-6, 0};
  };
  tasks.push_back(std::move(search));
  Task rank;
  rank.cell = app_cell("pagerank", "M edges/s", node);
  rank.measure = [&session, place, graph] {
    const double sweeps = rate_of(session.options.sample_ms, 1,
                                  [&](std::uint64_t) { (void)page_rank_sweep(*graph); });
    return Measured{sweeps * static_cast<double>(graph->targets.size()) * 1e-6, 0};
  };
  tasks.push_back(std::move(rank));
}

void add_placement(const std::shared_ptr<Place>& place, PageKind pages, Task& task) {
  task.cell.pages = name_of(pages);
  task.cpu = static_cast<int>(place->cpu);
  task.finish = [place, pages](Cell& cell) {
    const PlacementReport report = place->buffer->report();
    for (Flag& flag : check_placement(cell.label, report, pages)) {
      cell.flags.push_back(std::move(flag));
    }
    cell.extra["placed_share"] = report.located ? report.share_as_asked : -1;
  };
}

}  // namespace

ModePart app_part(Session& session) {
  ModePart part;
  using MakeTask = Task (*)(Session&, const std::shared_ptr<Place>&, int);
  for (const int node : session.nodes()) {
    for (const MakeTask make : {triad_task, updates_task, zipf_task}) {
      const std::shared_ptr<Place> place = make_place(session, node);
      if (!place) continue;
      part.tasks.push_back(make(session, place, node));
      add_placement(place, session.options.pages, part.tasks.back());
    }
    const std::shared_ptr<Place> place = make_place(session, node);
    if (!place) continue;
    const std::size_t first = part.tasks.size();
    add_graph_tasks(session, place, node, part.tasks);
    for (std::size_t i = first; i < part.tasks.size(); ++i) {
      add_placement(place, session.options.pages, part.tasks[i]);
    }
  }
  return part;
}

}  // namespace cxltier::bench
