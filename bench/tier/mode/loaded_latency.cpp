// SPDX-License-Identifier: Apache-2.0
//
// One sample of latency under load, and its cell.
#include "bench/tier/mode/loaded_latency.h"

#include <fmt/format.h>

#include <algorithm>

namespace cxltier::bench {

Measured sample_loaded(Session& session, const LoadedUse& use, const std::vector<LoadOrder>& orders,
                       std::optional<std::size_t> buffer) {
  LoadTeam& team = *use.team->team;
  Chase& chase = use.place->chase;
  team.start(orders);
  session.sample_latency(chase, 1, std::min(10.0, session.options.sample_ms));
  const std::vector<LoadCount> from = team.count();
  const double latency = session.sample_latency(chase, 1, session.options.sample_ms);
  const std::vector<LoadCount> to = team.count();
  team.stop();
  return {latency, team.rate(from, to, buffer).traffic_gbps};
}

Cell loaded_cell(const Session& session, const LoadedUse& use, const char* mode,
                 const std::string& id) {
  Cell cell;
  cell.mode = mode;
  cell.id = fmt::format("{}/cpu{}/node{}/{}", mode, use.cpu_node, use.node, id);
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.companion_unit = "GB/s";
  cell.cpu_node = use.cpu_node;
  cell.nodes = {use.node};
  cell.threads = use.load_cpus.size();
  cell.pages = name_of(session.options.pages);
  return cell;
}

void finish_loaded(Session& session, const LoadedUse& use, const std::vector<int>& loaded,
                   Cell& cell) {
  session.finish_chase(cell, *use.place, session.options.pages);
  for (const int node : loaded) session.check_load(cell, *use.team, node);
}

}  // namespace cxltier::bench
