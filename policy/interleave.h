// SPDX-License-Identifier: Apache-2.0
//
// Spreading traffic over tiers in proportion to what each can carry.
//
// Weights for a mix of reads and writes: a half-duplex bus (DDR) spends time on each in turn, a
// full-duplex link (CXL) carries both at once, so a mix of the two can beat pure reads there:
//
//     half duplex   1 / ((1 - w)/R + w/W)          full duplex   min(R/(1 - w), W/w)
//
// Small integer weights are searched for the sum that wastes least, as the kernel's weighted
// interleave wants them (mm/mempolicy.c: 1 to 255, reduced by their common divisor).
//
// Inside a uniform region the leaves that go to the slower tier are chosen by slot: 128 slots in
// bit-reversed order, so that any share is spread evenly, a walk through the region meets both
// tiers all the time, and another share moves only the difference.  Pure values: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "policy/units.h"

namespace cxltier {

enum class Duplex : std::uint8_t { half, full };

struct Bandwidth {
  std::uint32_t read_mbps = 0;
  std::uint32_t write_mbps = 0;  // 0: as reads
  Duplex duplex = Duplex::half;
};

// What a tier carries if `write_share_256` of 256 bytes are written, in MB/s.
// pre: write_share_256 <= 256
[[nodiscard]] std::uint32_t bandwidth_at(const Bandwidth& tier,
                                         std::uint16_t write_share_256) noexcept;

using Weights = std::array<std::uint8_t, tiers_max>;
inline constexpr std::uint32_t weight_sum_max = 32;

// Weights in proportion to `mbps` of the first `tier_count` tiers: of all sums up to 32 the
// smallest that lets the slowest finisher carry most.  A tier without bandwidth gets no weight; if
// none has any, all get 1.
// pre: 1 <= tier_count <= tiers_max   post: common divisor 1, sum <= 32 where tiers differ
[[nodiscard]] Weights solve_weights(const std::array<std::uint32_t, tiers_max>& mbps,
                                    std::size_t tier_count) noexcept;

inline constexpr std::uint32_t slots = 128;

// The slot of a leaf: its position modulo 128 with the bits reversed.  Leaves with slots below
// k are k of each 128, as evenly spread as any k can be.
[[nodiscard]] std::uint32_t slot_of(std::uint32_t leaf) noexcept;

}  // namespace cxltier
