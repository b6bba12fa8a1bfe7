// SPDX-License-Identifier: Apache-2.0
//
// From a name to a mode, and what several of them share.
#include "bench/tier/mode/mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cxltier::bench {
namespace {

std::vector<ModePart> parts_of(Session& session) {
  const std::string& mode = session.options.mode;
  std::vector<ModePart> parts;
  if (mode == "latency") parts.push_back(latency_part(session, Extent::full));
  if (mode == "bandwidth") parts.push_back(bandwidth_part(session, Extent::full));
  if (mode == "curve") parts.push_back(curve_part(session, Extent::full));
  if (mode == "peak") parts.push_back(peak_part(session));
  if (mode == "scaling") parts.push_back(scaling_part(session));
  if (mode == "interleave") parts.push_back(interleave_part(session));
  if (mode == "alloc") parts.push_back(alloc_part(session));
  if (mode == "move") parts.push_back(move_part(session));
  if (mode == "app") parts.push_back(app_part(session));
  if (mode == "peers") parts.push_back(peers_part(session));
  if (mode == "overview") {
    parts.push_back(latency_part(session, Extent::brief));
    parts.push_back(bandwidth_part(session, Extent::brief));
    parts.push_back(curve_part(session, Extent::brief));
  }
  return parts;
}

}  // namespace

void run_mode(Session& session) {
  std::vector<ModePart> parts = parts_of(session);
  std::vector<Task> tasks;
  for (ModePart& part : parts) {
    for (Task& task : part.tasks) tasks.push_back(std::move(task));
  }
  session.run(std::move(tasks));
  for (const ModePart& part : parts) {
    if (part.conclude) part.conclude(session);
  }
}

std::vector<Mix> mixes_or(const Session& session, const std::vector<const char*>& usual) {
  if (!session.options.mixes.empty()) return session.options.mixes;
  std::vector<Mix> mixes;
  for (const char* name : usual) mixes.push_back(*find_mix(name));
  return mixes;
}

std::vector<PageKind> small_and_huge(const Session& session) {
  std::vector<PageKind> kinds = {PageKind::small};
  if (usual_pages(std::nullopt, session.document.machine.thp) == PageKind::thp) {
    kinds.push_back(PageKind::thp);
  }
  return kinds;
}

std::vector<unsigned> load_cpus(const Session& session, std::size_t cpu_node) {
  std::vector<unsigned> cpus = session.cpu_node(cpu_node).cpus;
  if (session.options.threads != 0 && cpus.size() > session.options.threads) {
    cpus.resize(session.options.threads);
  }
  return cpus;
}

Cell bandwidth_cell(const std::string& mode, int cpu_node, int memory_node, const Mix& mix) {
  Cell cell;
  cell.mode = mode;
  cell.quantity = "bandwidth";
  cell.unit = "GB/s";
  cell.companion_unit = "GB/s application";
  cell.better = Better::higher;
  cell.cpu_node = cpu_node;
  cell.nodes = {memory_node};
  cell.mix = mix.name;
  cell.id = fmt::format("{}/cpu{}/node{}/{}", mode, cpu_node, memory_node, mix.name);
  cell.label = fmt::format("node {} from CPUs of node {}, {}", memory_node, cpu_node, mix.name);
  return cell;
}

}  // namespace cxltier::bench
