// SPDX-License-Identifier: Apache-2.0
//
// The pure part of a tick: the policy over leaves of which a fifth is hot, the heat of every leaf
// brought up to date, and the carrying over of leaves when memory is cut anew.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "bench/tier/kernel/random.h"
#include "policy/leaf_map.h"
#include "policy/leaf_survey.h"
#include "policy/presets.h"
#include "policy/tiering.h"

namespace cxltier {
namespace {

constexpr std::uint32_t leaf_pages = 128;  // 512 KiB

void per_leaf(benchmark::State& state, std::size_t count) {
  state.counters["per_leaf"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// A program that does not change; its pages lie on two tiers in turn.
class Settled {
 public:
  explicit Settled(std::size_t count)
      : leaves_(count),
        choices_(2048),
        moves_(2048),
        tiering_({.page_size = {4096}, .parameters = preset_of(PolicyKind::hot_cold), .cpus = 2},
                 {.leaves = leaves_, .choices = choices_, .moves = moves_}) {
    bench::Random random(1);
    for (std::uint32_t leaf = 0; leaf < count; ++leaf) {
      placements_.push_back({.leaf = leaf, .resident = {leaf_pages / 2, leaf_pages / 2}});
      const std::uint32_t touched = leaf % 5 == 0 ? 100 + random.below(8) : random.below(4);
      if (touched > 0) samples_.push_back({.leaf = leaf, .touched = touched});
    }
    for (int i = 0; i < 8; ++i) (void)tick();
  }

  std::size_t tick() {
    const std::uint64_t pages = leaves_.size() * leaf_pages;
    now_ = now_ + seconds(1);
    TickInput input;
    input.now = now_;
    input.elapsed = seconds(1);
    input.window = milliseconds(100);
    input.samples = samples_;
    input.placements = placements_;
    input.tier_count = 2;
    input.tiers[0] = {.latency_idle_ps = 100'000, .latency_ps = 100'000};
    input.tiers[1] = {.latency_idle_ps = 250'000, .latency_ps = 250'000};
    for (TierReading& tier : input.tiers) {
      tier.used = {pages / 2};
      tier.capacity = {pages / 4 * 3};
    }
    return tiering_.tick(input).moves.size();
  }

 private:
  std::vector<Leaf> leaves_;
  std::vector<LeafChoice> choices_;
  std::vector<LeafMove> moves_;
  std::vector<LeafPlacement> placements_;
  std::vector<LeafSample> samples_;
  Tiering tiering_;
  Nanoseconds now_ = seconds(100);
};

void bench_tick(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Settled program(count);
  std::size_t planned = 0;
  for (auto _ : state) {
    planned = program.tick();
    benchmark::DoNotOptimize(planned);
  }
  per_leaf(state, count);
  state.counters["moves"] = static_cast<double>(planned);
}
BENCHMARK(bench_tick)->Name("tiering_tick")->Arg(64)->Arg(1024)->Arg(16384);

void bench_region_map_update(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<Leaf> leaves(count);
  std::vector<LeafSample> samples;
  bench::Random random(1);
  for (std::uint32_t leaf = 0; leaf < count; ++leaf) {
    place_leaf(leaves[leaf], {leaf_pages / 2, leaf_pages / 2}, 0);
    if (leaf % 5 == 0) samples.push_back({.leaf = leaf, .touched = 1 + random.below(leaf_pages)});
  }
  const Parameters parameters = preset_of(PolicyKind::hot_cold);
  SurveyInput input;
  input.samples = samples;
  input.window = milliseconds(100);
  input.elapsed = seconds(1);
  input.now = seconds(100);
  for (auto _ : state) {
    input.now = input.now + seconds(1);
    benchmark::DoNotOptimize(survey_leaves(leaves, input, parameters).mass_all);
  }
  per_leaf(state, count);
}
BENCHMARK(bench_region_map_update)->Name("region_map_update")->Arg(64)->Arg(1024)->Arg(16384);

void bench_carry_leaves(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<Extent> before;
  std::vector<Extent> after;
  for (std::uint64_t i = 0; i < count; ++i) before.push_back({{i * leaf_pages}, leaf_pages});
  for (std::uint64_t i = 0; i < count / 2; ++i) {
    after.push_back({{i * 2 * leaf_pages}, 2 * leaf_pages});
  }
  std::vector<Leaf> leaves(before.size(), Leaf{.pages = leaf_pages});
  std::vector<Leaf> out(after.size());
  for (auto _ : state) {
    carry_leaves(before, leaves, after, out);
    benchmark::ClobberMemory();
  }
  per_leaf(state, count);
}
BENCHMARK(bench_carry_leaves)->Name("carry_leaves")->Arg(64)->Arg(1024)->Arg(16384);

}  // namespace
}  // namespace cxltier
