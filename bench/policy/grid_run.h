// SPDX-License-Identifier: Apache-2.0
//
// Runs cells on several threads; the results come in the order of the cells whatever the threads
// do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/simulator/grid.h"

namespace cxltier::bench {

struct GridRun {
  std::vector<std::string> policies;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
};

// Prints a line on stderr for each twentieth that is done.
[[nodiscard]] std::vector<simulator::CellResult> run_grid(std::span<const simulator::Cell> cells,
                                                          const GridRun& run);

}  // namespace cxltier::bench
