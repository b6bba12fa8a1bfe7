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

namespace cxltier::bench {
namespace {

// The team of all cores, and one buffer per weighing, made when it is first asked for.
class Weigher {
 public:
  Weigher(Session& session, PlacedTeam& team, std::vector<int> nodes)
      : session_(session), team_(team), nodes_(std::move(nodes)) {}

  // Median of three windows; 0 if the pages cannot be placed so.
  double measure(const Weights& weights, const Mix& mix) {
    const std::optional<std::size_t> buffer = buffer_of(weights);
    if (!buffer) return 0;
    std::vector<double> rates;
    for (int i = 0; i < 3; ++i) rates.push_back(sample(*buffer, mix).traffic_gbps);
    return median_of(std::move(rates));
  }
  LoadRate sample(std::size_t buffer, const Mix& mix) {
    const std::vector<LoadOrder> orders(team_.team->size(),
                                        LoadOrder{buffer, mix, 0, LoadOrder::State::running});
    return session_.sample_rate(*team_.team, orders, session_.options.sample_ms);
  }
  std::optional<std::size_t> buffer_of(const Weights& weights) {
    const auto known = buffers_.find(weights);
    if (known != buffers_.end()) return known->second;
    BufferRequest request{session_.load_bytes(team_.team->size()), PageKind::small, {}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (weights[i] > 0) request.nodes.push_back({static_cast<NodeId>(nodes_[i]), weights[i]});
    }
    const std::optional<std::size_t> buffer = team_.team->prepare(request);
    if (!buffer) {
      session_.say(fmt::format("no room for pages dealt {} over nodes {}", text_of(weights),
                               fmt::join(nodes_, ":")));
    }
    buffers_[weights] = buffer;
    return buffer;
  }
  [[nodiscard]] const std::vector<int>& nodes() const { return nodes_; }
  [[nodiscard]] PlacedTeam& team() const { return team_; }

 private:
  Session& session_;
  PlacedTeam& team_;
  std::vector<int> nodes_;
  std::map<Weights, std::optional<std::size_t>> buffers_;
};

Weights only(std::size_t index, std::size_t count) {
  Weights weights(count, 0);
  weights[index] = 1;
  return weights;
}

struct Way {
  std::string name;  // best, dram, equal, kernel
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
  cell.threads = weigher->team().team->size();
  cell.pages = name_of(PageKind::small);
  for (std::size_t i = 0; i < way.weights.size(); ++i) {
    cell.extra[fmt::format("weight_node{}", weigher->nodes()[i])] = way.weights[i];
  }
  const std::size_t buffer = *weigher->buffer_of(way.weights);
  task.measure = [weigher, buffer, mix] {
    const LoadRate rate = weigher->sample(buffer, mix);
    return Measured{rate.traffic_gbps, rate.application_gbps};
  };
  task.finish = [weigher, buffer](Cell& done) {
    const PlacementReport report = weigher->team().team->report(buffer);
    for (Flag& flag : check_placement(done.label, report, PageKind::small)) {
      done.flags.push_back(std::move(flag));
    }
    done.extra["placed_share"] = report.located ? report.share_as_asked : -1;
  };
  return task;
}

std::vector<Way> ways_of(const WeightSearch& search, const std::vector<double>& alone) {
  std::vector<Way> ways = {{"best", search.best.weights}, {"first", search.first.weights}};
  ways.push_back({"equal", search.equal.weights});
  ways.push_back({"kernel", kernel_weights(alone)});
  return ways;
}

std::string sysfs_line(const Weights& weights, const std::vector<int>& nodes) {
  std::string line = "as root, for programs that use weighted interleave:";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    line += fmt::format(" echo {} >/sys/kernel/mm/mempolicy/weighted_interleave/node{};",
                        std::max(weights[i], 1u), nodes[i]);
  }
  line.pop_back();
  return line;
}

std::vector<double> samples_of(const Cell& cell) {
  std::vector<double> values;
  for (const Sample& sample : cell.samples) values.push_back(sample.value);
  return values;
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
    if (other == nullptr || other->samples.size() != winner->samples.size()) continue;
    const Ratio ratio = paired_ratio(samples_of(*winner), samples_of(*other), 1);
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

void report(Session& session, const std::vector<Found>& all, const std::vector<int>& nodes) {
  for (const Found& found : all) report_mix(session, found.mix, found.search.best.weights, nodes);
  if (all.empty()) return;
  const Weights& best = all.front().search.best.weights;
  session.document.findings.push_back(sysfs_line(best, nodes));
  session.document.findings.push_back(
      fmt::format("without root: cxltier run --policy interleave, weights {} over nodes {}",
                  text_of(best), fmt::join(nodes, ":")));
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
    for (const Way& way : ways_of(search, alone)) {
      if (!weigher->buffer_of(way.weights)) continue;
      part.tasks.push_back(way_task(weigher, mix, way));
    }
    all.push_back({mix, search});
  }
  part.conclude = [all, nodes](Session& done) { report(done, all, nodes); };
  return part;
}

}  // namespace cxltier::bench
