// SPDX-License-Identifier: Apache-2.0
//
// What `simulate` shows, and its three forms: table, JSON, and an HTML page of its own.
#pragma once

#include <string>
#include <vector>

#include "policy/simulator/grid.h"
#include "policy/simulator/simulation.h"

namespace cxltier {

// One scenario under several policies.
struct ScenarioView {
  std::string scenario;  // "zipf-0.99 on spr-cxl, 1:4, load 1"
  std::string source;    // of the machine's figures
  std::size_t tier_count = 2;
  double footprint_gib = 0;
  double fast_gib = 0;
  double duration_s = 0;
  double steady_from_s = 0;
  double best_steady = 0;  // the free-migration oracle's progress
  std::vector<simulator::CellRow> rows;
};

[[nodiscard]] std::string simulate_table_of(const ScenarioView& view);
[[nodiscard]] std::string simulate_json_of(const ScenarioView& view);
// Self-contained: no script, no font and no file from elsewhere.
[[nodiscard]] std::string simulate_html_of(const ScenarioView& view);

// The grid: a line for each policy, and the summary for one of them.
[[nodiscard]] std::string grid_table_of(const std::vector<simulator::CellResult>& results);
[[nodiscard]] std::string grid_json_of(const std::vector<simulator::CellResult>& results,
                                       const std::string& own);

}  // namespace cxltier
