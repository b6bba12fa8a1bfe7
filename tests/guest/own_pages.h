// SPDX-License-Identifier: Apache-2.0
//
// Where the pages of this process lie, asked from the kernel: move_pages(2) without nodes, and
// /proc/self/numa_maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace cxltier::guest {

inline constexpr std::size_t page_bytes = 4096;

// One entry per page that `bytes` touches: its node, or a negative errno.
[[nodiscard]] std::vector<int> nodes_of(std::span<const std::byte> bytes);

// How many pages of `bytes` lie on one of `nodes`.
[[nodiscard]] std::size_t pages_on(std::span<const std::byte> bytes, const std::vector<int>& nodes);

// How many pages `bytes` touches.
[[nodiscard]] std::size_t pages_in(std::span<const std::byte> bytes);

// Moves the pages of `bytes` to a node, as a test's arrangement; returns how many are there then.
std::size_t move_to(std::span<const std::byte> bytes, int node);

// Anonymous pages of the whole process on these nodes.
[[nodiscard]] std::size_t anonymous_pages_on(const std::vector<int>& nodes);

}  // namespace cxltier::guest
