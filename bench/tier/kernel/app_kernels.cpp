// SPDX-License-Identifier: Apache-2.0
//
// The loops; nothing is allocated.
#include "bench/tier/kernel/app_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "bench/tier/kernel/random.h"

namespace cxltier::bench {

void stream_copy(double* __restrict__ to, const double* __restrict__ from,
                 std::size_t count) noexcept {
  // In blocks with a barrier: as one loop it would become a call of memcpy, which for large copies
  // writes without reading first and would not be STREAM's 16 bytes plus read for ownership.
  constexpr std::size_t block = 8;
  std::size_t i = 0;
  for (; i + block <= count; i += block) {
    for (std::size_t k = 0; k < block; ++k) to[i + k] = from[i + k];
    asm volatile("");
  }
  for (; i < count; ++i) to[i] = from[i];
}

void stream_scale(double* __restrict__ to, const double* __restrict__ from, double factor,
                  std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = factor * from[i];
}

void stream_add(double* __restrict__ to, const double* __restrict__ a, const double* __restrict__ b,
                std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
}

void stream_triad(const TriadArrays& arrays, double factor, std::size_t count) noexcept {
  double* __restrict__ to = arrays.to;
  const double* __restrict__ b = arrays.b;
  const double* __restrict__ c = arrays.c;
  for (std::size_t i = 0; i < count; ++i) to[i] = b[i] + factor * c[i];
}

std::uint64_t random_updates(std::span<std::uint64_t> table, std::uint64_t updates,
                             const HotSet& hot, std::uint64_t seed) noexcept {
  const auto hot_count = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(table.size()) * hot.bytes_share), 1);
  const auto hot_below = static_cast<std::uint32_t>(hot.access_share * 0xffff'ffff);
  Random random(seed);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < updates; ++i) {
    const std::uint64_t word = random.next();
    const bool is_hot = static_cast<std::uint32_t>(word) <= hot_below;
    const std::uint64_t range = is_hot ? hot_count : table.size();
    const std::uint64_t at = ((word >> 32) * range) >> 32;
    last = table[at] ^= word;
  }
  return last;
}

// Log-uniform ranks: P(rank <= k) = ln k / ln n, the Zipf law of exponent 1.
void fill_zipf_visits(std::span<std::uint32_t> visits, std::size_t items,
                      std::uint64_t seed) noexcept {
  Random random(seed);
  const double log_items = std::log(static_cast<double>(items));
  for (std::uint32_t& visit : visits) {
    const auto rank = static_cast<std::uint64_t>(std::exp(random.unit() * log_items)) - 1;
    // A fixed scramble keeps each rank at one place and its neighbours far away.
    Random place(rank);
    visit = place.below(items);
  }
}

std::uint64_t zipf_chase(const std::byte* items, std::span<const std::uint32_t> visits) noexcept {
  std::uint64_t loaded = 0;
  for (const std::uint32_t visit : visits) {
    const std::byte* item = items + (visit + loaded) * 64;
    std::memcpy(&loaded, item, sizeof loaded);
  }
  return loaded;
}

Graph make_graph(std::span<std::byte> memory, std::uint64_t seed) noexcept {
  // Per vertex: the row's start, its edges, two ranks, a level and a place in the queue.
  constexpr std::size_t vertex_bytes = 4 * (1 + graph_degree + 4);
  const std::size_t vertices = memory.size() / vertex_bytes - 1;
  std::byte* at = memory.data();
  const auto take = [&](std::size_t count) {
    auto* const words = reinterpret_cast<std::uint32_t*>(at);
    at += count * 4;
    return std::span<std::uint32_t>(words, count);
  };
  Graph graph;
  graph.first = take(vertices + 1);
  graph.targets = take(vertices * graph_degree);
  graph.level = take(vertices);
  graph.queue = take(vertices);
  graph.rank = {reinterpret_cast<float*>(take(vertices).data()), vertices};
  graph.next_rank = {reinterpret_cast<float*>(take(vertices).data()), vertices};
  Random random(seed);
  for (std::size_t v = 0; v < vertices; ++v) {
    const std::size_t row = v * graph_degree;
    graph.first[v] = static_cast<std::uint32_t>(row);
    graph.targets[row] = static_cast<std::uint32_t>(v + 1 < vertices ? v + 1 : 0);
    for (std::size_t e = 1; e < graph_degree; ++e) graph.targets[row + e] = random.below(vertices);
  }
  graph.first[vertices] = static_cast<std::uint32_t>(vertices * graph_degree);
  std::fill(graph.rank.begin(), graph.rank.end(), 1.0F / static_cast<float>(vertices));
  return graph;
}

std::uint64_t breadth_first(const Graph& graph, std::uint32_t source) noexcept {
  std::fill(graph.level.begin(), graph.level.end(), level_none);
  graph.level[source] = 0;
  graph.queue[0] = source;
  std::size_t end = 1;
  std::uint64_t edges = 0;
  for (std::size_t at = 0; at < end; ++at) {
    const std::uint32_t v = graph.queue[at];
    for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e, ++edges) {
      const std::uint32_t target = graph.targets[e];
      if (graph.level[target] != level_none) continue;
      graph.level[target] = graph.level[v] + 1;
      graph.queue[end++] = target;
    }
  }
  return edges;
}

double page_rank_sweep(Graph& graph) noexcept {
  constexpr float damping = 0.85F;
  const std::size_t vertices = graph.vertices();
  std::fill(graph.next_rank.begin(), graph.next_rank.end(),
            (1 - damping) / static_cast<float>(vertices));
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto degree = static_cast<float>(graph.first[v + 1] - graph.first[v]);
    const float gift = damping * graph.rank[v] / degree;
    for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
      graph.next_rank[graph.targets[e]] += gift;
    }
  }
  std::swap(graph.rank, graph.next_rank);
  double sum = 0;
  for (const float rank : graph.rank) sum += static_cast<double>(rank);
  return sum;
}

}  // namespace cxltier::bench
