// SPDX-License-Identifier: Apache-2.0
//
// The cells that policies are judged in, one cell at work, and the figures over all of them.
//
// Cells are independent of each other: the caller may run them on any number of threads and in any
// order; the result of a cell and the summary of an ordered list of them are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/simulator/simulation.h"
#include "policy/simulator/workloads.h"

namespace cxltier::simulator {

struct Cell {
  std::string workload;  // of make_workload, or "colloid-gups"
  std::string machine;
  double ratio = 2;  // slow capacity per fast; colloid-gups has its own
  double load = 0;   // thirds of the cores
};
[[nodiscard]] std::string name_of(const Cell& cell);

// Which of the grid: all of it; one cell of each workload and kind of machine, for every build.
enum class GridSize : std::uint8_t { full, quick };
[[nodiscard]] std::vector<Cell> grid_cells(GridSize size);

// The cell's machine and workload.  Empty if a name is not known.
struct Setting {
  const MachineModel* machine = nullptr;
  Workload workload;
};
[[nodiscard]] std::optional<Setting> make_setting(const Cell& cell, std::uint64_t seed);

// A policy of any kind: baselines at the tuning that serves them best over the quick grid,
// "NAME/TUNING" at another, products, ablations, "clairvoyant".  Null if not known.
[[nodiscard]] std::unique_ptr<TieringPolicy> make_policy(std::string_view name);
// All but ablations, in the order of a table.
[[nodiscard]] std::vector<std::string> policy_names();

inline constexpr std::string_view clairvoyant_name = "clairvoyant";  // O2
inline constexpr std::string_view own_name = "balance";

struct CellRow {
  std::string policy;
  Outcome outcome;
};

struct CellResult {
  Cell cell;
  double best_steady = 0;  // O1
  double best_whole = 0;
  double cap_steady = 0;        // O3
  double bytes_to_recover = 0;  // after the change: from O1 before it to 95 % of O1 after it
  std::vector<CellRow> rows;
  // Policies that beat O1 in some phase by more than a thousandth: a fault of the oracle.
  std::vector<std::string> above_oracle;

  // Null if that policy was not run.
  [[nodiscard]] const Outcome* find(std::string_view policy) const;
};

// pre: the cell's names are known
[[nodiscard]] CellResult run_cell(const Cell& cell, std::span<const std::string> policies,
                                  std::uint64_t seed);

// Figures over cells, for one product policy.
struct Summary {
  double colloid_table_rms_log_error = 0;  // the worse of both fits
  double geomean_of_oracle = 0;            // steady progress over O1's
  double worst_cell_of_oracle = 0;
  double min_over_first_touch = 0;       // the lower of whole-run and steady, worst cell
  double best_baseline_win_share = 0;    // cells with steady progress at least the best baseline's
  double near_baseline_win_share = 0;    // the same within half a percent
  double contended_over_model_best = 0;  // worst of Colloid's cells with load
  double unloaded_penalty = 0;           // worst of Colloid's cells without load
  double contention_recovery_over_bound = 0;  // worst; negative: some cell does not recover
  double shift_recovery_over_bound = 0;
  double extra_bytes_over_tpp = 0;  // bytes beyond O2's, summed, over TPP-like's
  double extra_bytes_over_colloid = 0;
  std::uint64_t digest = 0;
};
[[nodiscard]] Summary summarise(std::span<const CellResult> results, std::string_view policy);

// Seconds in which a policy may recover: 1.5 (bytes that must move / 2 GB/s) + 3 s.
[[nodiscard]] double recovery_bound_s(const CellResult& result);

// What a cell misses of the targets, in words; empty: nothing.
[[nodiscard]] std::vector<std::string> misses_of(const CellResult& result, std::string_view policy);

}  // namespace cxltier::simulator
