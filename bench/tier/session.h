// SPDX-License-Identifier: Apache-2.0
//
// What all modes share: the machine, the clock, and memory that has been placed and looked up once.
//
// Buffers are kept for the whole session, since placing and touching them takes longer than
// measuring.  They are small against the node (at most half of what is free) and large against the
// cache (4 x its size) where both can be had.  One thread, the main one, which pins itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bench/tier/experiment.h"
#include "bench/tier/host/buffer.h"
#include "bench/tier/host/processors.h"
#include "bench/tier/host/theoretical_peak.h"
#include "bench/tier/kernel/chase.h"
#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/timer.h"
#include "bench/tier/load_team.h"
#include "bench/tier/options.h"
#include "bench/tier/result/document.h"
#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier::bench {

// A buffer that is chased through.
struct PlacedChase {
  Buffer buffer;
  Chase chase;
  PlacementReport at_start;
};

// A team and which of its buffers lies where.
struct PlacedTeam {
  std::unique_ptr<LoadTeam> team;
  std::map<int, std::size_t> buffer_of;     // by memory node
  std::map<int, std::size_t> bytes_of;      // of one thread's buffer there
  std::map<int, PlacementReport> at_start;  // after touching
  std::map<int, PlacementReport> at_end;    // once asked for: the worse of both
};

class Session {
 public:
  // Reads the machine; throws std::runtime_error with a whole sentence if it cannot.
  Session(FileTree& tree, const Options& options);

  const Options options;
  Machine machine;
  TierMap tiers;
  Processors processors;
  std::map<int, TheoreticalPeak> peaks;  // by node; on bare metal only: hypervisors make them up
  Timer timer;
  const LoadKernel* kernel = nullptr;
  Document document;

  // Memory nodes that were asked for, fastest tier first; each has memory.
  [[nodiscard]] const std::vector<int>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const MachineNode& node(int id) const;
  [[nodiscard]] const NodeProcessors& cpu_node(std::size_t index) const {
    return processors.nodes[index];
  }
  // Index of the CPU node that is nearest to a memory node, by firmware's distances.
  [[nodiscard]] std::size_t nearest_cpu_node(int memory_node) const;
  [[nodiscard]] Distance distance_of(int cpu_node, int memory_node) const;
  // The most that a mix can carry on all of these nodes: what the user gave, else what the machine
  // says; 0: not known.
  [[nodiscard]] double ceiling_of_nodes(const std::vector<int>& nodes, std::string_view mix) const;

  // 4 x the last-level cache, or what was asked for: of lines that are used.
  [[nodiscard]] std::size_t used_bytes() const;
  // Size of a chase's buffer, of which one line in `spacing` bytes is used.
  [[nodiscard]] std::size_t chase_bytes() const;
  // Size of one thread's of `threads` load buffers.
  [[nodiscard]] std::size_t load_bytes(std::size_t threads) const;

  // nullptr, and a line in document.uncertainties, if it cannot be placed.
  PlacedChase* chase_on(int node, ChaseOrder order, PageKind pages);
  // A team on these CPUs with buffers on these nodes; kept by name.  A node whose buffers could not
  // be placed is absent from buffer_of, with a line in document.uncertainties.
  PlacedTeam& team_on(const std::string& name, const std::vector<unsigned>& cpus,
                      const std::vector<int>& nodes);

  // Latency of one sample, in ns per load.
  double sample_latency(Chase& chase, std::size_t chains, double window_ms);
  // Bandwidth of one sample: starts the team, lets it settle, and counts over a window.
  LoadRate sample_rate(LoadTeam& team, const std::vector<LoadOrder>& orders, double window_ms);

  [[nodiscard]] Plan plan();
  ExperimentOutcome run(std::vector<Task> tasks);
  // What the end of a task adds: where its pages are now, and how large.
  void finish_chase(Cell& cell, const PlacedChase& place, PageKind asked) const;
  void finish_team(Cell& cell, PlacedTeam& team, int node, std::size_t threads) const;
  // Of the buffers that only load while something else is measured: flags, no figures.
  void check_load(Cell& cell, PlacedTeam& team, int node) const;
  void say(const std::string& uncertainty);
  // What takes time before the rounds, on a terminal.
  void show_step(const std::string& what);

 private:
  void choose_nodes();
  void measure_cache_latency();
  double run_sentinel();
  void show_progress(double share, const std::string& what);
  // pre: the team has buffers there, and the last round is over
  const PlacementReport& report_of_team(PlacedTeam& team, int node) const;

  std::vector<int> nodes_;
  std::map<std::tuple<int, ChaseOrder, PageKind>, std::unique_ptr<PlacedChase>> chases_;
  std::map<std::string, PlacedTeam> teams_;
  double started_s_ = 0;
  double progress_started_s_ = 0;
  const bool progress_shown_;
};

}  // namespace cxltier::bench
