// SPDX-License-Identifier: Apache-2.0
//
// Interleave weights by measuring: each tier alone, a search over weights, and what was found
// against the other ways in rounds of pairs.
//
// Pages are dealt by the toucher, so arbitrary weights need neither root nor sysfs; the kernel's
// own weighted interleave deals in the same pattern.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/tier/mode/mode.h"
#include "bench/tier/verdict/weights.h"
#include "policy/presets.h"

namespace cxltier::bench {
namespace {

// The team of all cores, and buffers for the weighings that were asked for last: all of a search
// would not fit a small node.
class Weigher {
 public:
  Weigher(Session& session, PlacedTeam& team, std::vector<int> nodes)
      : session_(session), team_(team), nodes_(std::move(nodes)) {}

  // Median of three windows; 0 if the pages cannot be placed so.
  double measure(const Weights& weights, const Mix& mix) {
    std::vector<double> rates;
    for (int i = 0; i < 3; ++i) rates.push_back(sample(weights, mix).traffic_gbps);
    return median_of(std::move(rates));
  }
  LoadRate sample(const Weights& weights, const Mix& mix) {
    const std::optional<std::size_t> buffer = buffer_of(weights);
    if (!buffer) return {};
    const std::vector<LoadOrder> orders(team_.team->size(),
                                        LoadOrder{*buffer, mix, 0, LoadOrder::State::running});
    return session_.sample_rate(*team_.team, orders, session_.options.sample_ms);
  }
  [[nodiscard]] PlacementReport report(const Weights& weights) {
    const std::optional<std::size_t> buffer = buffer_of(weights);
    return buffer ? team_.team->report(*buffer) : PlacementReport{};
  }
  [[nodiscard]] const std::vector<int>& nodes() const { return nodes_; }
  [[nodiscard]] std::size_t threads() const { return team_.team->size(); }

 private:
  static constexpr std::size_t kept_most = 8;
  struct Kept {
    Weights weights;
    std::size_t buffer = 0;
  };

  std::optional<std::size_t> buffer_of(const Weights& weights) {
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& one) { return one.weights == weights; });
    if (known != kept_.end()) {
      std::rotate(known, known + 1, kept_.end());  // used last: freed last
      return kept_.back().buffer;
    }
    if (kept_.size() >= kept_most) drop_oldest();
    std::optional<std::size_t> buffer = place(weights);
    while (!buffer && !kept_.empty()) {
      drop_oldest();
      buffer = place(weights);
    }
    if (buffer) {
      kept_.push_back({weights, *buffer});
    } else {
      session_.say(fmt::format("no room for pages dealt {} over nodes {}", text_of(weights),
                               fmt::join(nodes_, ":")));
    }
    return buffer;
  }
  std::optional<std::size_t> place(const Weights& weights) {
    BufferRequest request{session_.load_bytes(threads()), PageKind::small, {}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (weights[i] > 0) request.nodes.push_back({static_cast<NodeId>(nodes_[i]), weights[i]});
    }
    return team_.team->prepare(request);
  }
  void drop_oldest() {
    team_.team->drop(kept_.front().buffer);
    kept_.erase(kept_.begin());
  }

  Session& session_;
  PlacedTeam& team_;
  std::vector<int> nodes_;
  std::vector<Kept> kept_;  // the one used last stands last
};

Weights only(std::size_t index, std::size_t count) {
  Weights weights(count, 0);
  weights[index] = 1;
  return weights;
}

struct Way {
  std::string name;  // best, first, equal, kernel
  Weights weights;
};

Task way_task(const std::shared_ptr<Weigher>& weigher, const Mix& mix, const Way& way) {
  Task task;
  task.measurer = Measurer::team;
  Cell& cell = task.cell;
  cell = bandwidth_cell("interleave", -1, weigher->nodes().front(), mix);
  cell.nodes = weigher->nodes();
  cell.id = fmt::format("interleave/{}/{}", mix.name, way.name);
  cell.label = fmt::format("{}: {} ({})", mix.name, text_of(way.weights), way.name);
  cell.threads = weigher->threads();
  cell.pages = name_of(PageKind::small);
  for (std::size_t i = 0; i < way.weights.size(); ++i) {
    cell.extra[fmt::format("weight_node{}", weigher->nodes()[i])] = way.weights[i];
  }
  task.measure = [weigher, weights = way.weights, mix] {
    const LoadRate rate = weigher->sample(weights, mix);
    return Measured{rate.traffic_gbps, rate.application_gbps};
  };
  task.finish = [weigher, weights = way.weights](Cell& done) {
    const PlacementReport report = weigher->report(weights);
    for (Flag& flag : check_placement(done.label, report, PageKind::small)) {
      done.flags.push_back(std::move(flag));
    }
    done.extra["placed_share"] = report.located ? report.share_as_asked : -1;
  };
  return task;
}

// All nodes of the fastest tier alike, and nothing elsewhere.
Weights fastest_tier(const Session& session) {
  Weights weights;
  const int fastest = session.node(session.nodes().front()).tier;
  for (const int node : session.nodes()) {
    weights.push_back(session.node(node).tier == fastest ? 1 : 0);
  }
  return weights;
}

std::vector<Way> ways_of(const Session& session, const WeightSearch& search,
                         const std::vector<double>& alone) {
  return {{"best", search.best.weights},
          {"first", fastest_tier(session)},
          {"equal", search.equal.weights},
          {"kernel", kernel_weights(alone)}};
}

// The kernel knows no weight of 0: a node that gets nothing is left out of the program's nodes.
std::string sysfs_line(const Weights& weights, const std::vector<int>& nodes) {
  std::vector<std::string> writes;
  std::vector<int> left_out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (weights[i] == 0) {
      left_out.push_back(nodes[i]);
      continue;
    }
    writes.push_back(fmt::format("echo {} >/sys/kernel/mm/mempolicy/weighted_interleave/node{}",
                                 weights[i], nodes[i]));
  }
  std::string line = fmt::format("as root, for programs that use weighted interleave: {}",
                                 fmt::join(writes, "; "));
  if (!left_out.empty()) {
    line += fmt::format("; and leave node {} out of their nodes", fmt::join(left_out, ", "));
  }
  return line;
}

void report_mix(Session& session, const Mix& mix, const Weights& best,
                const std::vector<int>& nodes) {
  Document& document = session.document;
  const auto cell_of = [&](const char* way) {
    return document.find(fmt::format("interleave/{}/{}", mix.name, way));
  };
  const Cell* winner = cell_of("best");
  if (winner == nullptr) return;
  std::string line = fmt::format("mix {}: weights {} for nodes {} give {:.1f} GB/s", mix.name,
                                 text_of(best), fmt::join(nodes, ":"), winner->summary.median);
  for (const char* way : {"first", "equal"}) {
    const Cell* other = cell_of(way);
    if (other == nullptr) continue;
    const Pairs pairs = pairs_of(*winner, *other);
    const Ratio ratio = paired_ratio(pairs.first, pairs.second, 1);
    line +=
        fmt::format("; {} {:.1f}, best is {:.2f} x [{:.2f}, {:.2f}]",
                    std::string(way) == "first" ? "first tier alone" : "1:1", other->summary.median,
                    ratio.value, ratio.interval.low, ratio.interval.high);
  }
  document.findings.push_back(std::move(line));
  const Cell* equal = cell_of("equal");
  const Cell* first = cell_of("first");
  if (equal != nullptr && first != nullptr && equal->summary.median < first->summary.median) {
    document.findings.push_back(fmt::format(
        "mix {}: dealing pages 1:1 is a trap here: the slower tier holds everything up, {:.1f} "
        "GB/s where the first tier alone gives {:.1f}",
        mix.name, equal->summary.median, first->summary.median));
  }
}

struct Found {
  Mix mix;
  WeightSearch search;
};

void check_peaks_of_weights(Session& session) {
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "interleave") continue;
    for (Flag& flag : check_bandwidth_peak(cell.label, cell.summary.median,
                                           session.ceiling_of_nodes(cell.nodes, cell.mix), 0)) {
      cell.flags.push_back(std::move(flag));
    }
  }
}

void report(Session& session, const std::vector<Found>& all, const std::vector<int>& nodes) {
  check_peaks_of_weights(session);
  for (const Found& found : all) report_mix(session, found.mix, found.search.best.weights, nodes);
  if (all.empty()) return;
  const Weights& best = all.front().search.best.weights;
  session.document.findings.push_back(sysfs_line(best, nodes));
  session.document.findings.push_back(
      fmt::format("weights {} over nodes {}{}", text_of(best), fmt::join(nodes, ":"),
                  is_offered(PolicyKind::interleave)
                      ? "; or let cxltier run --policy interleave find its own while it runs"
                      : "; cxltier run does not interleave by weights yet"));
}

}  // namespace

ModePart interleave_part(Session& session) {
  ModePart part;
  std::vector<int> nodes = session.nodes();
  if (nodes.size() < 2) {
    session.say("one memory node: there is nothing to interleave over");
    return part;
  }
  std::vector<unsigned> cpus;
  for (std::size_t cpu = 0; cpu < session.processors.nodes.size(); ++cpu) {
    const std::vector<unsigned> more = load_cpus(session, cpu);
    cpus.insert(cpus.end(), more.begin(), more.end());
  }
  auto weigher = std::make_shared<Weigher>(session, session.team_on("interleave", cpus, {}), nodes);
  std::vector<Found> all;
  for (const Mix& mix : mixes_or(session, {"R", "2:1", "1:1"})) {
    session.show_step(fmt::format("searching weights for {}", mix.name));
    std::vector<double> alone;
    double total = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      alone.push_back(weigher->measure(only(i, nodes.size()), mix));
      total += alone.back();
    }
    if (total <= 0) continue;
    WeightLimits limits;
    if (session.options.smoke) limits.tries_most = 4;
    const auto measure = [&](const Weights& weights) { return weigher->measure(weights, mix); };
    const WeightSearch search = find_weights(alone, measure, limits);
    for (const Way& way : ways_of(session, search, alone)) {
      part.tasks.push_back(way_task(weigher, mix, way));
    }
    all.push_back({mix, search});
  }
  part.conclude = [all, nodes](Session& done) { report(done, all, nodes); };
  return part;
}

}  // namespace cxltier::bench
