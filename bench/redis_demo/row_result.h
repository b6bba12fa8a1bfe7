// SPDX-License-Identifier: Apache-2.0
//
// What one row of the table holds, when a row counts as settled, and how windows become figures.
// Pure values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/redis_demo/load_client.h"

namespace cxltier::demo {

// One measuring window and what moved in it.
struct Window {
  WindowResult load;
  std::uint64_t pages_moved = 0;  // by whoever moves in this row: the kernel, the runtime, nobody
};

// A row settles when this many windows in a row agree.
inline constexpr std::size_t settled_windows = 3;
// An emulated guest repeats a measurement to a few per cent.  A smaller number waits longer; a much
// larger one would take a climb for a plateau.
inline constexpr double settled_spread = 0.10;

// True when the last three windows differ by at most settled_spread and in none of them more than
// `moved_max` pages moved.
bool is_settled(std::span<const Window> windows, std::uint64_t moved_max);

// When a mover that looks now and then has settled: its last looks brought few moves.  The runtime
// looks 16 times in vain before it rests; fewer would take a plateau for the end.
class QuietLooks {
 public:
  static constexpr std::uint64_t least = 16;

  // A window ended after `looks` looks in all, and `pages_moved` were moved in it.
  void note(std::uint64_t looks, std::uint64_t pages_moved, std::uint64_t moved_max) {
    if (pages_moved > moved_max || !started_) quiet_since_ = looks;
    started_ = true;
    looks_ = looks;
  }
  [[nodiscard]] bool enough() const { return looks_ - quiet_since_ >= least; }

 private:
  bool started_ = false;
  std::uint64_t quiet_since_ = 0;
  std::uint64_t looks_ = 0;
};

struct RoundResult {
  double settle_s = 0;             // from the placement to the first of the settled windows
  std::uint64_t settle_bytes = 0;  // moved in that time
  std::uint64_t placed_pages = 0;  // moved by the demo before
  int settled = 0;                 // 0: the longest wait ended first
  std::size_t windows = 0;
};

struct RowResult {
  std::string name;
  std::vector<WindowResult> windows;  // settled ones of all rounds
  std::vector<RoundResult> rounds;
  double dram_page_share = 0;          // greatest of the rounds
  double hot_dram_page_share = 1;      // least of the rounds
  double written_dram_page_share = 1;  // of the pages that the server writes; least of the rounds
  std::uint64_t dram_bytes = 0;        // greatest of the rounds
  std::uint64_t pages_promoted = 0;    // all rounds, settling included
  std::uint64_t pages_demoted = 0;
  std::uint64_t numa_pages_migrated = 0;  // all rounds
  // Over the settled windows of the last round: in the first the runtime has just done its work.
  double runtime_cpu_s = 0;
  double runtime_wall_s = 0;
  std::map<std::string, std::uint64_t> refusals;
  std::uint64_t over_limit_bytes_max = 0;
  std::string stat;        // what `cxltier stat --json` printed at the end; empty: no runtime
  int numa_balancing = 0;  // the sysctl; -1: no such switch
  std::string digest;
};

enum class Figure { requests_per_s, p50_ms, p99_ms };

// Median over the row's settled windows; 0 without windows.
double median_of(const RowResult& row, Figure figure);

// 0 when the row has no runtime.
double runtime_cpu_share(const RowResult& row);

}  // namespace cxltier::demo
