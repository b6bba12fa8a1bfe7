// SPDX-License-Identifier: Apache-2.0
//
// Ours against the methods of STREAM and of multichase: in one run, in pairs within a round, over
// memory of the same kind.  Wide of 1 is a fault of ours until shown otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/tier/kernel/app_kernels.h"
#include "bench/tier/kernel/peer_methods.h"
#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

Cell peer_cell(const char* id, const char* label, Better better) {
  Cell cell;
  cell.mode = "peers";
  cell.id = fmt::format("peers/{}", id);
  cell.label = label;
  cell.better = better;
  cell.quantity = better == Better::lower ? "latency" : "bandwidth";
  cell.unit = better == Better::lower ? "ns" : "GB/s";
  return cell;
}

// Two chases of one shape over two buffers of one kind.
struct ChasePair {
  Buffer own_buffer;
  Buffer peer_buffer;
  std::optional<Chase> own;
  std::optional<MultichaseMethod> peer;
};

// Both sides' pages must be alike, or the ratio is one of pages.
void add_placement(const char* whose, const Buffer& buffer, Cell& cell) {
  const std::string subject = fmt::format("{}: {}", cell.label, whose);
  for (Flag& flag : check_placement(subject, buffer.report(), buffer.pages())) {
    cell.flags.push_back(std::move(flag));
  }
}

// value: ours; companion: theirs.  Order within the pair alternates.
void add_chase(Session& session, std::vector<Task>& tasks) {
  int error = 0;
  const std::size_t bytes = session.options.smoke ? 4 * mib : 256 * mib;
  const NodeWeight node{static_cast<NodeId>(session.nodes().front()), 1};
  const BufferRequest request{bytes, session.options.pages, {node}};
  std::optional<Buffer> own = Buffer::make(request, error);
  std::optional<Buffer> peer = Buffer::make(request, error);
  if (!own || !peer) return session.say("no memory for two chases of 256 MiB");
  auto pair = std::make_shared<ChasePair>(ChasePair{std::move(*own), std::move(*peer), {}, {}});
  pair->own = Chase::build(pair->own_buffer.bytes(),
                           {ChaseOrder::page_local, chase_spacing, session.options.seed});
  pair->peer.emplace(pair->peer_buffer.bytes(), session.options.seed + 1);
  Task task;
  task.cell = peer_cell("chase", "chase, ours and multichase's method", Better::lower);
  task.cell.companion_unit = "ns, multichase's method";
  auto turn = std::make_shared<int>(0);
  task.cpu = static_cast<int>(session.cpu_node(0).cpus.front());
  task.measure = [&session, pair, turn] {
    const double ms = session.options.sample_ms;
    const bool peer_first = (*turn)++ % 2 == 1;
    double theirs = peer_first ? pair->peer->sample_ns(ms, session.timer) : 0;
    const double ours = session.sample_latency(*pair->own, 1, ms);
    if (!peer_first) theirs = pair->peer->sample_ns(ms, session.timer);
    return Measured{ours, theirs};
  };
  task.finish = [pair](Cell& cell) {
    add_placement("ours", pair->own_buffer, cell);
    add_placement("multichase's method", pair->peer_buffer, cell);
  };
  tasks.push_back(std::move(task));
}

struct StreamPair {
  Buffer memory;
  std::optional<StreamMethod> stream;
  std::vector<unsigned> cpus;
};

// Our loops over placed buffers, one per thread, against STREAM's arrays: the same bytes per
// element, counted as STREAM counts.
class OwnStreams {
 public:
  OwnStreams(Session& session, std::vector<unsigned> cpus)
      : session_(session), team_(session.team_on("peers", cpus, {session.nodes().front()})) {}

  [[nodiscard]] bool placed() const { return !team_.buffer_of.empty(); }
  void finish(Cell& cell) { session_.check_load(cell, team_, team_.buffer_of.begin()->first); }
  // Best of several windows of about a pass of STREAM's, as STREAM's is the best of several passes:
  // of noisy rates, the best of shorter ones is higher.
  double run(const char* mix, int windows) {
    const LoadOrder order{team_.buffer_of.begin()->second, *find_mix(mix), 0,
                          LoadOrder::State::running};
    const std::vector<LoadOrder> orders(team_.team->size(), order);
    const double ms = std::min(session_.options.sample_ms, 12.0);
    double best = 0;
    for (int i = 0; i < windows; ++i) {
      best = std::max(best, session_.sample_rate(*team_.team, orders, ms).application_gbps);
    }
    return best;
  }

 private:
  Session& session_;
  PlacedTeam& team_;
};

void add_streams(Session& session, std::vector<Task>& tasks) {
  int error = 0;
  // Each of the three arrays is 4 x the last-level cache, as STREAM asks.
  const std::size_t bytes = 3 * session.used_bytes();
  const NodeWeight node{static_cast<NodeId>(session.nodes().front()), 1};
  std::optional<Buffer> memory = Buffer::make({bytes, session.options.pages, {node}}, error);
  if (!memory) return session.say("no memory for STREAM's arrays");
  auto pair =
      std::make_shared<StreamPair>(StreamPair{std::move(*memory), {}, load_cpus(session, 0)});
  pair->stream.emplace(pair->memory.bytes(), pair->cpus);
  auto own = std::make_shared<OwnStreams>(session, pair->cpus);
  if (!own->placed()) return;
  struct Loop {
    const char* id;
    const char* label;
    const char* mix;
    double StreamPass::*theirs;
  };
  // Copy reads a line and writes another, as 2:1 does with the read for ownership; triad reads two.
  for (const Loop& loop :
       {Loop{"copy", "copy, ours and STREAM's method", "2:1", &StreamPass::copy_gbps},
        Loop{"triad", "triad, ours and STREAM's method", "triad", &StreamPass::triad_gbps}}) {
    Task task;
    task.measurer = Measurer::team;
    task.switches_own_per_s = 400;  // twenty groups of threads, and ten windows that end by waking
    task.cpu = static_cast<int>(pair->cpus.front());  // STREAM's method works there itself
    task.cell = peer_cell(loop.id, loop.label, Better::higher);
    task.cell.companion_unit = "GB/s, STREAM's method";
    task.cell.threads = pair->cpus.size();
    task.cell.mix = loop.mix;
    const int passes = session.options.smoke ? 1 : 5;
    auto turn = std::make_shared<int>(0);
    task.measure = [pair, own, loop, passes, turn] {
      const bool peer_first = (*turn)++ % 2 == 1;
      double theirs = peer_first ? pair->stream->run(passes).*loop.theirs : 0;
      const double ours = own->run(loop.mix, passes);
      if (!peer_first) theirs = pair->stream->run(passes).*loop.theirs;
      return Measured{ours, theirs};
    };
    task.finish = [pair, own](Cell& cell) {
      add_placement("STREAM's arrays", pair->memory, cell);
      own->finish(cell);
      cell.extra["sums_right"] = pair->stream->is_right() ? 1 : 0;
    };
    tasks.push_back(std::move(task));
  }
}

void report_ratios(Session& session) {
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "peers") continue;
    const Pairs pairs = pairs_with_companion(cell);
    const Ratio ratio = paired_ratio(pairs.first, pairs.second, 1);
    cell.extra["ratio"] = ratio.value;
    cell.extra["ratio_low"] = ratio.interval.low;
    cell.extra["ratio_high"] = ratio.interval.high;
    session.document.findings.push_back(fmt::format(
        "{}: {:.1f} against {:.1f} {}; ratio {:.3f}, 95 % [{:.3f}, {:.3f}] over {} {}pairs",
        cell.label, cell.summary.median, cell.companion.median, cell.unit, ratio.value,
        ratio.interval.low, ratio.interval.high, ratio.pairs,
        pairs.undisturbed ? "" : "disturbed "));
  }
}

}  // namespace

ModePart peers_part(Session& session) {
  ModePart part;
  add_chase(session, part.tasks);
  add_streams(session, part.tasks);
  part.conclude = report_ratios;
  return part;
}

}  // namespace cxltier::bench
