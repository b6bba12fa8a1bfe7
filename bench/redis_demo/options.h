// SPDX-License-Identifier: Apache-2.0
//
// What the user may choose.  A word that is not known ends in exit 2, with the word and the known
// ones named; see parse_options.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cxltier::demo {

struct Options {
  std::string bin_dir;   // the build folder that holds bin/cxltier
  std::string out_path;  // report.json; empty: not written
  std::string redis = "redis-server";
  std::string policy = "hot-cold";
  std::vector<std::string> rows;  // in the order in which they are measured
  double values_mib = 96;
  double window_s = 2;
  double settle_max_s = 75;  // how long a row may take to settle in its first round
  double time_max_s = 330;   // no further round that would end later than this
  int rounds = 2;
  std::optional<int> cxl_node;           // else the CPU-less node with memory
  std::optional<std::string> exit_text;  // --help
  std::string wrong;                     // not empty: bad usage, this is the text
  int smoke = 0;                         // 1: tiny sizes, one row, one node
  int keep = 0;                          // 1: the servers' folder with their logs stays
};

// Never throws: bad usage is in `wrong`.
Options parse_options(int argc, char** argv);

// Whether `row` is to be measured.
bool has_row(const Options& options, const std::string& row);

}  // namespace cxltier::demo
