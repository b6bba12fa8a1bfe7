// SPDX-License-Identifier: Apache-2.0
//
// policy_tick_cost: one planner tick after another on many leaves of which few change, for
// callgrind to count (tick_cost.sh), and timed.
//
//   policy_tick_cost LEAVES TICKS
//
// A fifth of the memory is warm and on the fast tier, one leaf in a hundred is touched in each
// tick: little changes.  Prints the memory that the policy works in.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "policy/tiering.h"

namespace cxltier {
namespace {

constexpr std::uint32_t leaf_pages = 512;

struct Bench {
  explicit Bench(std::uint32_t count)
      : leaves(count),
        choices(4096),
        moves(2048),
        tiering({.page_size = {4096}, .parameters = preset_of(PolicyKind::balance), .cpus = 16},
                {leaves, choices, moves}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Residence resident{};
      resident[i % 5 == 0 ? 0 : 1] = leaf_pages;
      placements.push_back({.leaf = i, .resident = resident});
    }
  }

  // The same leaves are touched as often in each tick, so that their heat is steady.
  void touch(std::uint32_t stride) {
    samples.clear();
    for (std::uint32_t i = 0; i < leaves.size(); i += stride) {
      samples.push_back({.leaf = i, .touched = 1 + (i / stride) % 60});
    }
  }

  void tick(Coverage coverage) {
    TickInput input;
    now = now + seconds(1);
    input.now = now;
    input.elapsed = seconds(1);
    input.window = milliseconds(50);
    input.coverage = coverage;
    input.samples = samples;
    input.placements = placements;
    input.tier_count = 2;
    const auto pages = std::uint64_t{leaf_pages} * leaves.size();
    for (std::size_t t = 0; t < 2; ++t) {
      input.tiers[t] = {.latency_idle_ps = t == 0 ? 80'000u : 200'000u,
                        .latency_ps = t == 0 ? 81'000u : 201'000u,
                        .probes = 8,
                        .read_mbps = 80'000,
                        .write_mbps = 40'000,
                        .duplex = Duplex::half,
                        .used = {t == 0 ? pages / 5 : pages - pages / 5},
                        .capacity = {t == 0 ? pages / 4 : pages}};
    }
    planned += tiering.tick(input).moves.size();
    placements.clear();
  }

  std::vector<Leaf> leaves;
  std::vector<LeafChoice> choices;
  std::vector<LeafMove> moves;
  std::vector<LeafSample> samples;
  std::vector<LeafPlacement> placements;
  Tiering tiering;
  Nanoseconds now = seconds(10);
  std::size_t planned = 0;
};

int run(std::uint32_t leaves, int ticks) {
  Bench bench(leaves);
  bench.touch(5);
  bench.tick(Coverage::all_seen);
  bench.touch(100);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < ticks; ++i) bench.tick(Coverage::all_seen);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const std::size_t bytes = sizeof(Tiering) + bench.leaves.size() * sizeof(Leaf) +
                            bench.choices.size() * sizeof(LeafChoice) +
                            bench.moves.size() * sizeof(LeafMove);
  std::printf("leaves %u ticks %d ms_per_tick %.3f bytes %zu planned %zu\n", leaves, ticks + 1,
              took.count() / ticks, bytes, bench.planned);
  return 0;
}

}  // namespace
}  // namespace cxltier

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: policy_tick_cost LEAVES TICKS\n");
    return 2;
  }
  const auto leaves = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const int ticks = std::atoi(argv[2]);
  return leaves == 0 || ticks < 1 ? 2 : cxltier::run(leaves, ticks);
}
