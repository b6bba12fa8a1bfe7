// SPDX-License-Identifier: Apache-2.0
//
// Reading the machine, placing memory, taking single samples.
#include "bench/tier/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "bench/tier/host/machine_record.h"
#include "bench/tier/host/plain_machine.h"
#include "runtime/topology/finding.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t buffer_unknown_cache = 256 * mib;
constexpr std::size_t buffer_most = 1024 * mib;
constexpr std::size_t buffer_emulated = 8 * mib;
constexpr double settle_ms = 10;

void sleep_ms(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

// Pages that were not asked for by name are what the machine has.
Options with_pages_of(Options options, FileTree& tree) {
  TreeText text(tree);
  static_cast<void>(text.read(Path("sys/kernel/mm/transparent_hugepage/enabled")));
  options.pages = usual_pages(options.pages_asked, text.view());
  return options;
}

// A line that is written over needs a terminal that can do so.
bool can_show_progress(const Options& options) {
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !options.quiet && !dumb && ::isatty(STDERR_FILENO) == 1;
}

// Tier first, then id; nodes in no tier last.
std::pair<std::size_t, int> rank_of(const MachineNode& node) {
  return {node.tier < 0 ? tiers_max : static_cast<std::size_t>(node.tier), node.id};
}

}  // namespace

Session::Session(FileTree& tree, const Options& chosen)
    : options(with_pages_of(chosen, tree)), progress_shown_(can_show_progress(chosen)) {
  started_s_ = now_s();
  const Result<SeenMachine> seen = see_machine(tree);
  if (!seen.ok()) {
    throw std::runtime_error(
        fmt::format("cannot read /sys/devices/system/node: {}; is sysfs mounted?",
                    std::strerror(seen.error())));
  }
  machine = seen.value().machine;
  tiers = assign_tiers(machine, read_process_nodes(tree).value_or(ProcessNodes{}).own);
  processors = read_processors(tree, machine);
  if (processors.nodes.empty()) throw std::runtime_error("no CPU that this process may use");
  document.machine = read_machine_record(tree, machine, tiers, processors);
  document.uncertainties = uncertainties_of(document.machine, processors);
  if (document.machine.hypervisor == "none") peaks = read_theoretical_peaks(tree, machine);
  choose_nodes();
  if (!seen.value().nodes_seen) {
    say("/sys/devices/system/node is not there: one node is assumed, with all memory and CPUs");
  }
  if (options.pages != chosen.pages) {
    say("transparent huge pages are off here: pages of 4 KiB, and latency over the whole buffer "
        "has more TLB misses in it");
  }
  if (document.machine.emulated) {
    // No cache is modelled: what sysfs shows bounds nothing, and each access takes microseconds.
    processors.llc_bytes = 0;
    processors.llc_total_bytes = 0;
    say("emulated: caches are not modelled, so buffers are small and there is no floor");
  }
  if (pin_thread(processors.nodes.front().cpus.front()) != 0) {
    say("threads cannot be pinned here (sched_setaffinity is refused): they may share a core");
  }
  timer = calibrate_timer(options.smoke ? 5 : 50);
  kernel = options.kernel.empty() ? &runnable_kernels().front() : find_kernel(options.kernel);
  document.flags = check_timer(timer.calibration_error);
  Settings& s = document.settings;
  s.mode = options.mode;
  s.seed = options.seed;
  s.sample_ms = options.sample_ms;
  s.pages = name_of(options.pages);
  s.kernel = kernel->name;
  s.timer_cost_ns = timer.cost_ns();
  s.timer_ns_per_tick = timer.ns_per_tick;
  if (!options.smoke) measure_cache_latency();
}

void Session::choose_nodes() {
  for (const MachineNode& one : document.machine.nodes) {
    const bool asked =
        options.nodes.empty() ||
        std::find(options.nodes.begin(), options.nodes.end(), one.id) != options.nodes.end();
    if (asked && one.bytes > 0) nodes_.push_back(one.id);
  }
  for (const int asked : options.nodes) {
    if (std::find(nodes_.begin(), nodes_.end(), asked) == nodes_.end()) {
      throw std::invalid_argument(
          fmt::format("--nodes: no node {} with memory; nodes with memory: {}", asked, [&] {
            std::vector<int> known;
            for (const MachineNode& one : document.machine.nodes) {
              if (one.bytes > 0) known.push_back(one.id);
            }
            return fmt::format("{}", fmt::join(known, ", "));
          }()));
    }
  }
  std::sort(nodes_.begin(), nodes_.end(),
            [this](int a, int b) { return rank_of(node(a)) < rank_of(node(b)); });
}

const MachineNode& Session::node(int id) const {
  const auto found = std::find_if(document.machine.nodes.begin(), document.machine.nodes.end(),
                                  [id](const MachineNode& one) { return one.id == id; });
  return *found;
}

std::size_t Session::nearest_cpu_node(int memory_node) const {
  const std::size_t to = position_of(machine, static_cast<NodeId>(memory_node));
  std::size_t nearest = 0;
  unsigned least = ~0u;
  for (std::size_t i = 0; i < processors.nodes.size(); ++i) {
    const std::size_t from = position_of(machine, processors.nodes[i].node);
    const unsigned distance = machine.distance[from][to] == 0 ? 255 : machine.distance[from][to];
    if (distance >= least) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

Distance Session::distance_of(int cpu_node_id, int memory_node) const {
  const std::string& kind = node(memory_node).kind;
  if (kind == cxltier::name_of(NodeKind::cxl)) return Distance::cxl;
  if (kind == cxltier::name_of(NodeKind::persistent)) return Distance::persistent;
  if (kind != cxltier::name_of(NodeKind::dram)) return Distance::unordered;
  return cpu_node_id == memory_node ? Distance::local_dram : Distance::remote_dram;
}

double Session::ceiling_of_nodes(const std::vector<int>& nodes, std::string_view mix_name) const {
  const std::optional<Mix> mix = find_mix(mix_name);
  double sum = 0;
  for (const int node : nodes) {
    const auto given = options.peaks.find(node);
    const auto found = peaks.find(node);
    if (given != options.peaks.end()) {
      sum += given->second;
    } else if (found != peaks.end() && mix) {
      sum += ceiling_of(found->second, *mix);
    } else {
      return 0;
    }
  }
  return sum;
}

std::size_t Session::used_bytes() const {
  if (options.buffer_bytes != 0) return options.buffer_bytes;
  if (document.machine.emulated) return buffer_emulated;
  if (processors.llc_bytes == 0) return buffer_unknown_cache;
  const std::size_t wanted = 4 * static_cast<std::size_t>(processors.llc_bytes);
  return std::clamp(wanted, 64 * mib, buffer_most);
}

std::size_t Session::chase_bytes() const {
  if (options.buffer_bytes != 0) return options.buffer_bytes;
  return std::min(used_bytes() * (options.spacing / 64), 2 * buffer_most);
}

std::size_t Session::load_bytes(std::size_t threads) const {
  if (options.smoke) return options.buffer_bytes;
  // A mix walks up to three streams, each of which is to be 4 x the last-level cache.
  const std::size_t all = options.buffer_bytes != 0 ? options.buffer_bytes : 3 * used_bytes();
  return std::clamp(all / std::max<std::size_t>(threads, 1), 16 * mib, 256 * mib);
}

void Session::say(const std::string& uncertainty) {
  std::vector<std::string>& lines = document.uncertainties;
  if (std::find(lines.begin(), lines.end(), uncertainty) == lines.end()) {
    lines.push_back(uncertainty);
  }
}

PlacedChase* Session::chase_on(int id, ChaseOrder order, PageKind pages) {
  std::unique_ptr<PlacedChase>& kept = chases_[{id, order, pages}];
  if (kept) return kept.get();
  show_step("placing memory");
  int error = 0;
  BufferRequest request{chase_bytes(), pages, {{static_cast<NodeId>(id), 1}}};
  std::optional<Buffer> buffer = Buffer::make(request, error);
  // A small node gets a smaller buffer, and the rule on buffers says so.
  while (!buffer && pages != PageKind::hugetlb && request.bytes > 8 * mib) {
    request.bytes /= 2;
    buffer = Buffer::make(request, error);
  }
  if (!buffer) {
    say(fmt::format("node {}: no room for a buffer of {} pages: {}", id, name_of(pages),
                    std::strerror(error)));
    return nullptr;
  }
  std::optional<Chase> chase =
      Chase::build(buffer->bytes(), {order, options.spacing, options.seed});
  if (!chase)
    throw std::runtime_error("the chase is not one cycle: memory does not hold its words");
  const PlacementReport report = buffer->report();
  kept = std::make_unique<PlacedChase>(PlacedChase{std::move(*buffer), *chase, report});
  return kept.get();
}

PlacedTeam& Session::team_on(const std::string& name, const std::vector<unsigned>& cpus,
                             const std::vector<int>& nodes) {
  PlacedTeam& placed = teams_[name];
  show_step("placing memory");
  if (!placed.team) placed.team = std::make_unique<LoadTeam>(cpus, *kernel);
  for (const int id : nodes) {
    if (placed.buffer_of.count(id) != 0) continue;
    BufferRequest request{load_bytes(cpus.size()), options.pages, {{static_cast<NodeId>(id), 1}}};
    std::optional<std::size_t> index = placed.team->prepare(request);
    while (!index && request.bytes > 8 * mib) {  // a small node
      request.bytes /= 2;
      index = placed.team->prepare(request);
    }
    if (index) {
      placed.buffer_of[id] = *index;
      placed.bytes_of[id] = request.bytes;
      placed.at_start[id] = placed.team->report(*index);
    } else {
      say(fmt::format("node {}: no room for {} load buffers of {} MiB", id, cpus.size(),
                      request.bytes / mib));
    }
  }
  return placed;
}

double Session::sample_latency(Chase& chase, std::size_t chains, double window_ms) {
  constexpr std::uint64_t steps = 4096;
  std::uint64_t ticks = 0;
  std::uint64_t done = 0;
  const double end = now_s() + window_ms / 1000;
  do {
    ticks += chase.run(chains, steps, timer);
    done += steps;
  } while (now_s() < end);
  return timer.ns(ticks) / static_cast<double>(done * chains);
}

LoadRate Session::sample_rate(LoadTeam& team, const std::vector<LoadOrder>& orders,
                              double window_ms) {
  team.start(orders);
  sleep_ms(std::min(settle_ms, window_ms));
  const std::vector<LoadCount> from = team.count();
  sleep_ms(window_ms);
  const std::vector<LoadCount> to = team.count();
  team.stop();
  return team.rate(from, to);
}

// The floor under all latencies: an eighth of the last-level cache, since a virtual machine may own
// only a part of it.
void Session::measure_cache_latency() {
  const auto bytes = static_cast<std::size_t>(processors.llc_bytes / 8) * (chase_spacing / 64);
  int error = 0;
  if (bytes < mib) return;
  std::optional<Buffer> buffer = Buffer::make({bytes, PageKind::thp, {}}, error);
  if (!buffer) return;
  std::optional<Chase> chase =
      Chase::build(buffer->bytes(), {ChaseOrder::page_local, chase_spacing, options.seed});
  if (!chase) return;
  std::vector<double> values;
  for (int i = 0; i < 15; ++i) values.push_back(sample_latency(*chase, 1, 2));
  document.settings.llc_latency_ns = *std::min_element(values.begin(), values.end());
}

double Session::run_sentinel() {
  pin_thread(processors.nodes.front().cpus.front());
  PlacedChase* place = chase_on(nodes_.front(), ChaseOrder::page_local, options.pages);
  return place == nullptr ? 1 : sample_latency(place->chase, 1, std::min(options.sample_ms, 20.0));
}

Plan Session::plan() {
  Plan plan;
  plan.rounds = options.rounds;
  plan.seed = options.seed;
  plan.deadline_s = started_s_ + options.time_s;
  plan.sentinel = [this] { return run_sentinel(); };
  plan.warm_up = [this] { return run_sentinel(); };
  if (progress_shown_) {
    progress_started_s_ = now_s();
    plan.progress = [this](double share, const std::string& what) { show_progress(share, what); };
  }
  return plan;
}

void Session::show_progress(double share, const std::string& what) {
  const double spent = now_s() - progress_started_s_;
  const double whole = share > 0.02 ? spent / share : options.time_s;
  const double left = std::min(whole - spent, std::max(options.time_s - spent, 0.0) + 5);
  std::fprintf(stderr, "\r\033[K%3.0f %%  %-10s about %.0f s left", 100 * share, what.c_str(),
               std::max(left, 0.0));
}

void Session::show_step(const std::string& what) {
  if (progress_shown_) std::fprintf(stderr, "\r\033[K%s ...", what.c_str());
}

ExperimentOutcome Session::run(std::vector<Task> tasks) {
  const Plan chosen = plan();
  const ExperimentOutcome outcome = run_experiment(std::move(tasks), chosen, timer, document);
  if (progress_shown_) std::fputs("\r\033[K", stderr);
  return outcome;
}

void Session::finish_chase(Cell& cell, const PlacedChase& place, PageKind asked) const {
  const auto add = [&](Flags flags) {
    for (Flag& flag : flags) cell.flags.push_back(std::move(flag));
  };
  const PlacementReport at_end = place.buffer.report();
  const bool worse_at_start = place.at_start.share_as_asked < at_end.share_as_asked;
  add(check_placement(cell.label, worse_at_start ? place.at_start : at_end, asked));
  const std::size_t used = place.buffer.bytes().size() / (options.spacing / 64);
  add(check_buffer_size(cell.label, used, processors.llc_bytes));
  cell.extra["buffer_bytes"] = static_cast<double>(place.buffer.bytes().size());
  cell.extra["placed_share"] = at_end.located ? at_end.share_as_asked : -1;
  cell.extra["huge_share"] = at_end.huge_known ? at_end.huge_share : -1;
}

const PlacementReport& Session::report_of_team(PlacedTeam& team, int node) const {
  const auto known = team.at_end.find(node);
  if (known != team.at_end.end()) return known->second;
  const PlacementReport at_end = team.team->report(team.buffer_of.at(node));
  const PlacementReport& at_start = team.at_start.at(node);
  const bool worse_at_start = at_start.share_as_asked < at_end.share_as_asked;
  return team.at_end[node] = worse_at_start ? at_start : at_end;
}

void Session::finish_team(Cell& cell, PlacedTeam& team, int node, std::size_t threads) const {
  const PlacementReport& report = report_of_team(team, node);
  const double bytes = static_cast<double>(team.bytes_of.at(node) * threads);
  const auto add = [&](Flags flags) {
    for (Flag& flag : flags) cell.flags.push_back(std::move(flag));
  };
  add(check_placement(cell.label, report, options.pages));
  add(check_buffer_size(cell.label, static_cast<std::uint64_t>(bytes), processors.llc_bytes));
  cell.extra["buffer_bytes"] = bytes;
  cell.extra["placed_share"] = report.located ? report.share_as_asked : -1;
  cell.extra["huge_share"] = report.huge_known ? report.huge_share : -1;
}

void Session::check_load(Cell& cell, PlacedTeam& team, int node) const {
  const std::string subject = fmt::format("{}: load on node {}", cell.label, node);
  for (Flag& flag : check_placement(subject, report_of_team(team, node), options.pages)) {
    cell.flags.push_back(std::move(flag));
  }
}

}  // namespace cxltier::bench
