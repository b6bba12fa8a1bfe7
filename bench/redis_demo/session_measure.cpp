// SPDX-License-Identifier: Apache-2.0
//
// Measuring: rows are interleaved, each is placed anew in each round and measured when it has
// settled.
#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"
#include "bench/redis_demo/session.h"

namespace cxltier::demo {
namespace {

// Who moves pages by itself needs time before it starts: windows before that say nothing about
// settling.  The runtime scans once a second, the kernel's balancing starts after one.
constexpr double mover_start_s = 12;

// The kernel scans a process at least once a minute, in steps; it fills DRAM whatever the budget,
// so its row is for comparison only and gets less time.
constexpr double kernel_settle_max_s = 14;

// Where nobody moves pages, windows that do not agree are noise: more waiting brings nothing.
constexpr double placed_windows_max = 6;

// More pages than this share of the budget in one window: still moving.
constexpr double settled_moved_share = 0.02;

std::uint64_t moved_between(const RuntimeFigures& a, const RuntimeFigures& b) {
  return (b.pages_promoted - a.pages_promoted) + (b.pages_demoted - a.pages_demoted);
}

}  // namespace

void Session::measure() {
  // What a round may take is not known before the first: a quarter of all.
  double round_s = options_.time_max_s / 4;
  for (std::size_t round = 0; last_round_ == 0; ++round) {
    const double start = now_s();
    last_round_ = is_last_round(round, round_s);
    for (RowResult& row : rows_) measure_row(row, round);
    round_s = now_s() - start;
  }
}

// Decided before the round, since digests are taken in the last one.
int Session::is_last_round(std::size_t round, double round_s) const {
  const bool all_done = round + 1 >= static_cast<std::size_t>(options_.rounds);
  const bool late = now_s() + 3 * round_s > options_.time_max_s;
  if (late && !all_done) progress("this round is the last: another would take too long");
  return all_done || late ? 1 : 0;
}

void Session::activate(const std::string& row) {
  if (tiered_.server == nullptr) return;
  Target& other = row == "cxltier" ? plain_ : tiered_;
  other.server->pause();
  target_of(row).server->resume();
}

// The runtime's server is placed once, while it is stopped; from then on it places itself.
std::uint64_t Session::place_for(const std::string& row, std::size_t round) {
  if (nodes_.cxl < 0 || (row == "cxltier" && round > 0)) return 0;
  if (row == "by_hand") return place_hand_well();
  if (row != "cxltier") return place(plain_, placement_for(row));
  tiered_.server->pause();
  const std::uint64_t moved = place(tiered_, placement_for(row));
  tiered_.server->resume();
  return moved;
}

// A row that has its figures is only checked where the host has become too slow for another round.
void Session::measure_row(RowResult& row, std::size_t round) {
  balancing_.set(0);
  activate(row.name);
  Target& target = target_of(row.name);
  if (last_round_ != 0 && !row.rounds.empty() && now_s() > options_.time_max_s) {
    return finish_row(row, target);
  }
  if (row.name == "by_hand" && !hand_best_) choose_hand_placement();
  RoundResult result;
  result.placed_pages = place_for(row.name, round);
  balancing_.set(row.name == "kernel_balancing" ? 1 : 0);
  row.numa_balancing = balancing_.value();
  const bool moves = row.name == "kernel_balancing" || row.name == "cxltier";
  run_windows(row, result, moves && round == 0 ? Settling::from_the_split : Settling::placed);
  record_pages(row, target);
  row.rounds.push_back(result);
  char text[160];
  std::snprintf(
      text, sizeof text,
      "round %zu %s: %.0f requests/s, %.1f %% of pages and %.1f %% of hot pages on DRAM%s",
      round + 1, row.name.c_str(), median_of(row, Figure::requests_per_s),
      row.dram_page_share * 100, row.hot_dram_page_share * 100,
      result.settled != 0 ? "" : " (not settled)");
  progress(text);
  balancing_.set(0);
  if (last_round_ != 0) finish_row(row, target);
}

// The digest is taken with all pages back on DRAM: it reads everything and hashes on a stack that
// may lie on CXL, which takes minutes when emulated.  What a move did to the data shows there too.
void Session::finish_row(RowResult& row, Target& target) {
  const double start = now_s();
  if (nodes_.cxl >= 0) {
    target.server->pause();
    place(target, place_all_on_dram(anonymous_pages(target.server->pid())));
    target.server->resume();
  }
  row.digest = target.server->control().call({"DEBUG", "DIGEST"});
  char text[80];
  std::snprintf(text, sizeof text, "%s: digest taken in %.1f s", row.name.c_str(), now_s() - start);
  progress(text);
}

Session::Counters Session::read_counters(Target& target, Mover mover) {
  Counters counters;
  counters.numa_pages_migrated = numa_pages_migrated();
  if (mover != Mover::runtime) return counters;
  // The load goes on while stat runs: an idle server would look cold.
  const Capture capture = ask_figures(cxltier_path(), target.server->pid(), folder_.path());
  target.client->run_while([&] { return !has_output(capture); });
  counters.runtime = read_figures(capture);
  return counters;
}

// Runs windows until three agree; where somebody moves pages from the split, not before that could
// begin.
void Session::run_windows(RowResult& row, RoundResult& round, Settling settling) {
  Target& target = target_of(row.name);
  const Mover mover = row.name == "cxltier"            ? Mover::runtime
                      : row.name == "kernel_balancing" ? Mover::kernel
                                                       : Mover::nobody;
  const auto moved_max = static_cast<std::uint64_t>(
      settled_moved_share * static_cast<double>(setup_.budget_bytes / page_size));
  std::vector<Window> windows;
  std::vector<double> starts;
  std::vector<Counters> counters;
  QuietLooks looks;
  const double start = now_s();
  counters.push_back(read_counters(target, mover));
  const double wait_max_s = mover == Mover::nobody ? placed_windows_max * options_.window_s
                            : mover == Mover::kernel
                                ? std::min(kernel_settle_max_s, options_.settle_max_s)
                                : options_.settle_max_s;
  while (round.settled == 0 && now_s() - start < wait_max_s) {
    starts.push_back(now_s());
    Window window;
    window.load = target.client->run_window(options_.window_s);
    counters.push_back(read_counters(target, mover));
    const Counters& before = counters[counters.size() - 2];
    window.pages_moved = counters.back().numa_pages_migrated - before.numa_pages_migrated +
                         moved_between(before.runtime, counters.back().runtime);
    windows.push_back(window);
    looks.note(counters.back().runtime.ticks, window.pages_moved, moved_max);
    const bool fresh = settling == Settling::from_the_split;
    const bool quiet = mover != Mover::runtime || !fresh || looks.enough();
    const bool long_enough = !fresh || now_s() - start >= mover_start_s;
    if (long_enough && quiet && is_settled(windows, moved_max)) round.settled = 1;
  }
  const std::size_t used = std::min(settled_windows, windows.size());
  const std::size_t first = windows.size() - used;
  for (const Window& window : std::span(windows).subspan(first)) row.windows.push_back(window.load);
  const Counters& begin = counters.front();
  const Counters& settled = counters[first];
  const Counters& end = counters.back();
  round.windows = windows.size();
  round.settle_s = starts[first] - start;
  round.settle_bytes = (settled.numa_pages_migrated - begin.numa_pages_migrated +
                        moved_between(begin.runtime, settled.runtime)) *
                       page_size;
  row.numa_pages_migrated += end.numa_pages_migrated - begin.numa_pages_migrated;
  row.pages_promoted += end.runtime.pages_promoted - begin.runtime.pages_promoted;
  row.pages_demoted += end.runtime.pages_demoted - begin.runtime.pages_demoted;
  row.runtime_cpu_s = end.runtime.cpu_s - settled.runtime.cpu_s;
  row.runtime_wall_s = end.runtime.read_at_s - settled.runtime.read_at_s;
  row.refusals = end.runtime.refusals;
  row.over_limit_bytes_max = end.runtime.over_limit_bytes_max;
  row.stat = end.runtime.stat;
}

double Session::dram_share(const Target& target, const std::vector<PageAddress>& pages) const {
  if (pages.empty()) return 1;
  std::uint64_t on_dram = 0;
  for (int node : nodes_of(target.server->pid(), pages)) on_dram += nodes_.is_dram(node) ? 1 : 0;
  return static_cast<double>(on_dram) / static_cast<double>(pages.size());
}

double Session::hot_dram_share(const Target& target) const {
  return dram_share(target, target.hot_pages);
}

void Session::record_pages(RowResult& row, Target& target) {
  const std::vector<PageAddress> pages = anonymous_pages(target.server->pid());
  std::uint64_t on_dram = 0;
  for (int node : nodes_of(target.server->pid(), pages)) on_dram += nodes_.is_dram(node) ? 1 : 0;
  const double share = static_cast<double>(on_dram) / static_cast<double>(pages.size());
  row.dram_page_share = std::max(row.dram_page_share, share);
  row.dram_bytes = std::max(row.dram_bytes, on_dram * page_size);
  row.hot_dram_page_share = std::min(row.hot_dram_page_share, hot_dram_share(target));
  row.written_dram_page_share =
      std::min(row.written_dram_page_share, dram_share(target, find_written(target)));
}

}  // namespace cxltier::demo
