// SPDX-License-Identifier: Apache-2.0
//
// The pure part of a tick: the region map, the planner, the histogram of heat.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "bench/tier/kernel/random.h"
#include "policy/heat_histogram.h"
#include "policy/planner.h"
#include "policy/presets.h"
#include "policy/region_map.h"

namespace cxltier {
namespace {

constexpr std::uint32_t region_pages = 64;  // 256 KiB

// A fifth of the regions is hot; pages lie on two tiers in turn.
std::vector<Observation> observations(std::size_t count, bench::Random& random) {
  std::vector<Observation> seen(count);
  for (std::size_t i = 0; i < count; ++i) {
    Observation& one = seen[i];
    one.first_page = {0x10000 + i * 2 * region_pages};
    one.page_count = region_pages;
    const bool hot = i % 5 == 0;
    one.touched_pages = hot ? region_pages - random.below(8) : random.below(4);
    one.visibility = Visibility::seen;
    one.resident[i % 2] = region_pages;
  }
  return seen;
}

std::vector<Region> settled_regions(std::size_t count) {
  bench::Random random(1);
  std::vector<Region> regions;
  for (int scan = 0; scan < 8; ++scan) {
    const std::vector<Observation> seen = observations(count, random);
    std::vector<Region> after(count);
    update_regions(regions, seen, seconds(1), after);
    regions = after;
  }
  return regions;
}

Limits two_tiers(std::size_t regions) {
  const std::uint64_t pages = regions * region_pages;
  Limits limits;
  limits.tier_count = 2;
  limits.tiers[0] = {{pages / 2}, {pages / 4 * 3}};
  limits.tiers[1] = {{pages / 2}, {pages * 4}};
  limits.moved_max = {pages / 4};
  limits.now = seconds(1000);
  return limits;
}

void per_region(benchmark::State& state, std::size_t count) {
  state.counters["per_region"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void bench_update_regions(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  bench::Random random(2);
  const std::vector<Region> before = settled_regions(count);
  const std::vector<Observation> seen = observations(count, random);
  std::vector<Region> after(count);
  for (auto _ : state) {
    benchmark::DoNotOptimize(update_regions(before, seen, seconds(1), after));
    benchmark::ClobberMemory();
  }
  per_region(state, count);
}
BENCHMARK(bench_update_regions)->Name("update_regions")->Arg(64)->Arg(1024)->Arg(16384);

void bench_planner_tick(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Parameters parameters = preset_of(PolicyKind::hot_cold);
  const Limits limits = two_tiers(count);
  std::vector<Region> regions = settled_regions(count);
  std::vector<Rank> ranks(count);
  std::vector<Move> moves(count);
  // A region is moved only after it was hot in several scans.
  for (int scan = 0; scan < 8; ++scan) rank_regions(regions, limits, parameters, ranks);
  std::size_t planned = 0;
  for (auto _ : state) {
    rank_regions(regions, limits, parameters, ranks);
    planned = plan_moves(regions, limits, parameters, moves, ranks);
    benchmark::DoNotOptimize(planned);
  }
  per_region(state, count);
  state.counters["moves"] = static_cast<double>(planned);
}
BENCHMARK(bench_planner_tick)->Name("planner_tick")->Arg(64)->Arg(1024)->Arg(16384);

void bench_heat_histogram(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::vector<Region> regions = settled_regions(count);
  const Pages capacity{count * region_pages / 4};
  for (auto _ : state) {
    const HeatHistogram histogram = histogram_of(regions);
    benchmark::DoNotOptimize(fill_capacity(histogram, capacity, 20));
  }
  per_region(state, count);
}
BENCHMARK(bench_heat_histogram)->Name("heat_histogram")->Arg(1024)->Arg(16384);

}  // namespace
}  // namespace cxltier
