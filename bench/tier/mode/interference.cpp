// SPDX-License-Identifier: Apache-2.0
//
// Two tiers at once.  Queues that one tier fills can be another's too: load on CXL memory has been
// seen to take most of the bandwidth of DRAM.
//
//   over      the chase on A, all other cores load B at a rate that a delay sets: latency of A over
//             the traffic of B
//   without   half of the cores load A as fast as they can, the others rest
//   with      the same, and the others load B as fast as they can
#include <fmt/format.h>

#include "bench/tier/mode/loaded_latency.h"

namespace cxltier::bench {
namespace {

// A load of reads on `other` at one rate.
Task over_task(Session& session, const LoadedUse& use, int other, std::uint32_t delay) {
  const Mix read = *find_mix("R");
  Task task;
  task.cell = loaded_cell(session, use, "interference", fmt::format("over{}/d{}", other, delay));
  task.cell.label = fmt::format("node {} over load on node {}, delay {}", use.node, other, delay);
  task.cell.nodes = {use.node, other};
  task.cell.mix = read.name;
  task.cell.delay = static_cast<int>(delay);
  const std::size_t buffer = use.team->buffer_of.at(other);
  const std::vector<LoadOrder> orders(use.load_cpus.size(),
                                      LoadOrder{buffer, read, delay, LoadOrder::State::running});
  task.cpu = static_cast<int>(use.latency_cpu);
  task.measure = [&session, use, orders, buffer] {
    return sample_loaded(session, use, orders, buffer);
  };
  task.finish = [&session, use, other](Cell& cell) { finish_loaded(session, use, {other}, cell); };
  return task;
}

// Half of the threads (none of one) load use.node; the rest load `other` or nothing.
Task both_task(Session& session, const LoadedUse& use, int other, LoadOrder::State others) {
  const bool loaded = others == LoadOrder::State::running;
  const Mix read = *find_mix("R");
  const std::size_t own = use.team->buffer_of.at(use.node);
  const std::size_t threads = use.load_cpus.size();
  std::vector<LoadOrder> orders(threads, LoadOrder{use.team->buffer_of.at(other), read, 0, others});
  for (std::size_t i = 0; i < threads / 2; ++i) {
    orders[i] = {own, read, 0, LoadOrder::State::running};
  }
  Task task;
  task.cell = loaded_cell(session, use, "interference",
                          fmt::format("{}{}", loaded ? "with" : "without", other));
  task.cell.label =
      fmt::format("node {} {} load on node {}", use.node, loaded ? "with" : "without", other);
  task.cell.nodes = {use.node, other};
  task.cell.mix = read.name;
  task.cpu = static_cast<int>(use.latency_cpu);
  task.measure = [&session, use, orders, own] { return sample_loaded(session, use, orders, own); };
  task.finish = [&session, use, other](Cell& cell) {
    finish_loaded(session, use, {use.node, other}, cell);
  };
  return task;
}

}  // namespace

void add_interference(Session& session, const LoadedUse& use, int other,
                      const std::vector<std::uint32_t>& delays, std::vector<Task>& tasks) {
  for (const std::uint32_t delay : delays) {
    tasks.push_back(over_task(session, use, other, delay));
  }
  for (const LoadOrder::State state : {LoadOrder::State::idle, LoadOrder::State::running}) {
    tasks.push_back(both_task(session, use, other, state));
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

}  // namespace cxltier::bench
