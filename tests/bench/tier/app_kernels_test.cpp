// SPDX-License-Identifier: Apache-2.0
//
// The small programs compute what they say: a workload that does something else measures it too.
#include "bench/tier/kernel/app_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "bench/tier/kernel/peer_methods.h"

namespace cxltier::bench {
namespace {

TEST(Streams, EachLoopIsItsFormula) {
  constexpr std::size_t count = 1003;  // no multiple of a block
  std::vector<double> a(count);
  std::vector<double> b(count);
  std::vector<double> c(count);
  std::iota(a.begin(), a.end(), 1.0);
  stream_copy(b.data(), a.data(), count);
  EXPECT_EQ(b, a);
  stream_scale(c.data(), a.data(), 3, count);
  EXPECT_EQ(c[count - 1], 3 * a[count - 1]);
  stream_add(b.data(), a.data(), c.data(), count);
  EXPECT_EQ(b[17], 4 * a[17]);
  stream_triad({c.data(), a.data(), b.data()}, 2, count);
  EXPECT_EQ(c[count - 1], 9 * a[count - 1]);
}

TEST(Streams, TheSumsOfStreamsMethodAreRightAfterItsPasses) {
  std::vector<double> memory(3 * 4096 + 8);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  const std::vector<unsigned> cpus = {0};
  StreamMethod stream({bytes, memory.size() * sizeof(double)}, cpus);
  EXPECT_TRUE(stream.is_right());
  const StreamPass pass = stream.run(3);
  EXPECT_TRUE(stream.is_right());
  EXPECT_GT(pass.copy_gbps, 0);
  EXPECT_GT(pass.triad_gbps, 0);
  memory[100] += 1;
  EXPECT_FALSE(stream.is_right());
}

TEST(RandomUpdates, MostFallIntoTheHotPart) {
  std::vector<std::uint64_t> table(100'000);
  random_updates(table, 50'000, {0.1, 0.9}, 1);
  const auto changed = [&](std::size_t from, std::size_t to) {
    return static_cast<std::size_t>(std::count_if(table.begin() + static_cast<std::ptrdiff_t>(from),
                                                  table.begin() + static_cast<std::ptrdiff_t>(to),
                                                  [](std::uint64_t w) { return w != 0; }));
  };
  // 45,000 updates into 10,000 places leave about 1 % untouched; 5,000 into 100,000 touch 5 %.
  EXPECT_GT(changed(0, 10'000), 9'700u);
  EXPECT_NEAR(static_cast<double>(changed(10'000, 100'000)), 4'400, 300);
}

TEST(Zipf, TheFirstRanksTakeTheirShare) {
  constexpr std::size_t items = 10'000;
  std::vector<std::uint32_t> visits(100'000);
  fill_zipf_visits(visits, items, 1);
  std::map<std::uint32_t, int> counts;
  for (const std::uint32_t visit : visits) {
    ASSERT_LT(visit, items);
    ++counts[visit];
  }
  std::vector<int> sorted;
  for (const auto& [item, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  // ln 2 / ln n of all visits go to the first rank.
  EXPECT_NEAR(sorted.front() / 1e5, 0.0753, 0.01);
  const std::vector<std::byte> memory(items * 64);
  EXPECT_EQ(zipf_chase(memory.data(), visits), 0u);
}

TEST(Graph, SearchReachesAllAndLevelsGrowByOne) {
  std::vector<std::uint64_t> memory(50'000);
  const Graph graph = make_graph(std::as_writable_bytes(std::span(memory)), 4);
  ASSERT_GT(graph.vertices(), 4000u);
  const std::uint64_t edges = breadth_first(graph, 0);
  EXPECT_EQ(edges, graph.targets.size());
  EXPECT_EQ(graph.level[0], 0u);
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    ASSERT_NE(graph.level[v], level_none);
    for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
      ASSERT_LE(graph.level[graph.targets[e]], graph.level[v] + 1);
    }
  }
}

TEST(Graph, RanksSumToOne) {
  std::vector<std::uint64_t> memory(50'000);
  Graph graph = make_graph(std::as_writable_bytes(std::span(memory)), 4);
  for (int sweep = 0; sweep < 5; ++sweep) EXPECT_NEAR(page_rank_sweep(graph), 1.0, 1e-3);
}

}  // namespace
}  // namespace cxltier::bench
