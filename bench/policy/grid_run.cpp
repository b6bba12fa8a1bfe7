// SPDX-License-Identifier: Apache-2.0
//
// Threads that take the next cell until there is none.
#include "bench/policy/grid_run.h"

#include <atomic>
#include <cstdio>
#include <thread>

namespace cxltier::bench {

std::vector<simulator::CellResult> run_grid(std::span<const simulator::Cell> cells,
                                            const GridRun& run) {
  std::vector<simulator::CellResult> results(cells.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  const std::size_t step = cells.size() / 20 + 1;
  const auto work = [&] {
    for (std::size_t i = next++; i < cells.size(); i = next++) {
      results[i] = simulator::run_cell(cells[i], run.policies, run.seed);
      const std::size_t finished = ++done;
      if (finished % step == 0) std::fprintf(stderr, "%zu of %zu cells\n", finished, cells.size());
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < run.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace cxltier::bench
