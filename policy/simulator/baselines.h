// SPDX-License-Identifier: Apache-2.0
//
// Published policies, written anew from their rules, and what each is called.
//
// Each takes a tuning from 0 to 4: the published constants, and four variations of those that its
// authors say to tune.  "like" is to be taken seriously: kernel mechanisms are modelled at the
// granularity of leaves, heat inside a leaf is even, so what splits huge pages has nothing to do.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "policy/simulator/tiering_policy.h"

namespace cxltier::simulator {

inline constexpr std::size_t tunings = 5;

// first-touch           fast until full, then slow; never moves
// weighted-interleave   static weights by bandwidth share (Linux 6.9, auto weights of 6.16)
// bwap-like             bandwidth weights, then a climb on stall (IPDPS 2020)
// caption-like          climb on throughput, new allocations only (MICRO 2023)
// hottest-first         ranks by sampled counts, fills the fast tier
// tpp-like, tpp-thp-like  hint faults, active list, demotion watermark (ASPLOS 2023)
// numa-balancing-2-like hint-fault latency, threshold by rate limit (Linux 6.1)
// hemem-like            fixed thresholds on samples, FIFO lists (SOSP 2021)
// memtis-like           histogram, capacity fill (SOSP 2023)
// colloid-hemem, colloid-memtis, colloid-tpp    equal latencies by bracket (SOSP 2024)
// arms-like             two averages, cost-benefit, change detection (2025)
[[nodiscard]] std::span<const std::string_view> baseline_names();

// Null if the name is not known.  pre: tuning < tunings
[[nodiscard]] std::unique_ptr<TieringPolicy> make_baseline(std::string_view name,
                                                           std::size_t tuning);

// The makers behind it, one for each file.
[[nodiscard]] std::unique_ptr<TieringPolicy> make_static_baseline(std::string_view name,
                                                                  std::size_t tuning);
[[nodiscard]] std::unique_ptr<TieringPolicy> make_fault_baseline(std::string_view name,
                                                                 std::size_t tuning);
[[nodiscard]] std::unique_ptr<TieringPolicy> make_sample_baseline(std::string_view name,
                                                                  std::size_t tuning);
[[nodiscard]] std::unique_ptr<TieringPolicy> make_colloid(std::string_view name,
                                                          std::size_t tuning);
[[nodiscard]] std::unique_ptr<TieringPolicy> make_arms(std::size_t tuning);

}  // namespace cxltier::simulator
