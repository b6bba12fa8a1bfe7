// SPDX-License-Identifier: Apache-2.0
//
// Settling and medians; see the header.
#include "bench/redis_demo/row_result.h"

#include <algorithm>
#include <cstddef>

namespace cxltier::demo {
namespace {

double value_of(const WindowResult& window, Figure figure) {
  if (figure == Figure::requests_per_s) return window.requests_per_s;
  return figure == Figure::p50_ms ? window.p50_ms : window.p99_ms;
}

}  // namespace

bool is_settled(std::span<const Window> windows, std::uint64_t moved_max) {
  if (windows.size() < settled_windows) return false;
  const auto last = windows.last(settled_windows);
  double least = last[0].load.requests_per_s;
  double most = least;
  for (const Window& window : last) {
    least = std::min(least, window.load.requests_per_s);
    most = std::max(most, window.load.requests_per_s);
    if (window.pages_moved > moved_max) return false;
  }
  return most - least <= settled_spread * most;
}

double median_of(const RowResult& row, Figure figure) {
  std::vector<double> values;
  for (const WindowResult& window : row.windows) values.push_back(value_of(window, figure));
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double runtime_cpu_share(const RowResult& row) {
  return row.runtime_wall_s > 0 ? row.runtime_cpu_s / row.runtime_wall_s : 0;
}

}  // namespace cxltier::demo
