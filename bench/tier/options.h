// SPDX-License-Identifier: Apache-2.0
//
// What the user may ask for.  A word that is not known ends in exit 2, with the word and the known
// ones named; see parse_options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/tier/host/buffer.h"
#include "bench/tier/kernel/chase.h"
#include "bench/tier/kernel/mix.h"

namespace cxltier::bench {

enum class OutputForm : std::uint8_t { table, json, csv };

struct Options {
  std::string mode = "overview";
  bool mode_given = false;
  OutputForm form = OutputForm::table;
  std::string html_path;     // empty: not written
  bool save = false;         // write the machine profile
  std::string save_path;     // there; empty: where the other commands look for it
  std::string compare_path;  // empty: nothing to compare with
  std::vector<std::string> references;

  std::vector<int> nodes;  // memory nodes; empty: all
  std::vector<Mix> mixes;  // empty: the mode's own
  std::vector<std::uint32_t> delays;
  std::vector<std::size_t> chains{1};
  std::vector<ChaseOrder> orders;  // empty: both
  std::optional<PageKind> pages_asked;
  PageKind pages = PageKind::thp;  // without being asked: what the machine has (usual_pages)
  std::size_t spacing = chase_spacing;
  std::size_t threads = 0;       // 0: all cores of a node
  std::size_t buffer_bytes = 0;  // 0: 4 x the last-level cache
  std::string kernel;            // empty: the widest
  std::map<int, double> peaks;   // theoretical GB/s by node

  // After parsing: what was asked for, or the mode's own.
  int rounds = 0;
  double sample_ms = 0;
  double time_s = 0;
  std::uint64_t seed = 1;
  bool smoke = false;
  bool quiet = false;  // no progress

  std::optional<std::string> exit_text;  // --help, and lists of names
  std::string wrong;                     // not empty: bad usage, this is the text
};

// Never throws: bad usage is in `wrong`.  `words` does not hold the program's name.
[[nodiscard]] Options parse_options(const std::vector<std::string>& words);

// "latency, bandwidth, ..."
[[nodiscard]] std::string mode_names();

// MLC's own steps, so that curves can be laid over published ones.  A delay is a knob, not a unit.
inline constexpr std::uint32_t curve_delays[] = {
    0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000};

}  // namespace cxltier::bench
