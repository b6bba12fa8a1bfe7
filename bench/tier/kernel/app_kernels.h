// SPDX-License-Identifier: Apache-2.0
//
// Small programs with the memory behaviour of large ones, each over memory that its caller placed.
//
//   copy, triad        streams: a = b, a = b + q * c        as STREAM defines them
//   random updates     table[i] ^= r, most of them in a hot part       as GUPS, with a hot set
//   Zipf chase         dependent reads, item k with probability ~ 1 / k, items scattered
//   breadth-first      a random graph in compressed rows, level by level
//   PageRank           sweeps over the same graph: streaming rows, scattered ranks
//
// One thread each; several may run beside each other over parts of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxltier::bench {

// --- streams ---

void stream_copy(double* to, const double* from, std::size_t count) noexcept;
void stream_scale(double* to, const double* from, double factor, std::size_t count) noexcept;
void stream_add(double* to, const double* a, const double* b, std::size_t count) noexcept;

struct TriadArrays {
  double* to = nullptr;
  const double* b = nullptr;
  const double* c = nullptr;
};
void stream_triad(const TriadArrays& arrays, double factor, std::size_t count) noexcept;

// --- random updates ---

struct HotSet {
  double bytes_share = 0.1;   // of the table, at its front
  double access_share = 0.9;  // of the updates
};
// Returns a value that depends on the table.  pre: the table is not empty
std::uint64_t random_updates(std::span<std::uint64_t> table, std::uint64_t updates,
                             const HotSet& hot, std::uint64_t seed) noexcept;

// --- Zipf ---

// Fills `visits` with item numbers below `items`: rank k with probability ~ 1 / k, ranks scattered
// over the items.  pre: 0 < items < 2^32
void fill_zipf_visits(std::span<std::uint32_t> visits, std::size_t items,
                      std::uint64_t seed) noexcept;
// Reads the items in that order, each address depending on the read before.  Items are 64 bytes
// apart and hold 0, which the compiler does not know.
std::uint64_t zipf_chase(const std::byte* items, std::span<const std::uint32_t> visits) noexcept;

// --- graphs ---

// Compressed rows over memory of the caller: row v's edges are targets[first[v] .. first[v + 1]).
struct Graph {
  std::span<std::uint32_t> first;    // vertices + 1
  std::span<std::uint32_t> targets;  // edges
  std::span<float> rank;             // vertices
  std::span<float> next_rank;        // vertices
  std::span<std::uint32_t> level;    // vertices; level_none: not reached
  std::span<std::uint32_t> queue;    // vertices
  [[nodiscard]] std::size_t vertices() const noexcept { return rank.size(); }
};
inline constexpr std::uint32_t level_none = 0xffff'ffff;
inline constexpr std::size_t graph_degree = 16;

// Lays a graph of as many vertices as fit into the memory, with 16 random edges each; the ring
// v -> v + 1 is among them, so that every vertex is reached.  pre: memory is aligned to 8
[[nodiscard]] Graph make_graph(std::span<std::byte> memory, std::uint64_t seed) noexcept;

// From vertex `source`; returns how many edges were followed.
std::uint64_t breadth_first(const Graph& graph, std::uint32_t source) noexcept;
// One sweep with damping 0.85; returns the sum of all ranks, which stays 1.
double page_rank_sweep(Graph& graph) noexcept;

}  // namespace cxltier::bench
