// SPDX-License-Identifier: Apache-2.0
//
// Which pages go to DRAM in each row.  Pure: lists in, lists out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/redis_demo/hot_pages.h"
#include "bench/redis_demo/process_pages.h"

namespace cxltier::demo {

struct Placement {
  std::vector<PageAddress> dram;  // both ascending; together all pages
  std::vector<PageAddress> cxl;
};

Placement place_all_on_dram(std::span<const PageAddress> pages);
Placement place_all_on_cxl(std::span<const PageAddress> pages);

// Deals pages round robin, the first of every four to DRAM.
Placement place_split(std::span<const PageAddress> pages);

// Lists of pages, most wanted list first, up to a budget of pages; what is left of the budget goes
// to the pages that lie closest to the middle of `around`.
// pre: pages and around ascending
// post: dram.size() <= budget
Placement place_by_hand(std::span<const PageAddress> pages,
                        std::span<const std::vector<PageAddress>> wanted,
                        std::span<const PageAddress> around, std::uint64_t budget);

// A way to spend the budget by hand.
struct HandTry {
  std::string name;
  std::vector<std::vector<PageAddress>> wanted;  // most wanted first
  // Pages that the server writes while it serves come before all of them.  Which ones they are is
  // found anew at each placement: Redis reallocates its buffers.
  enum class Written { ignored, first } written = Written::ignored;
};

// From the values alone to everything that a lookup is known to touch, and what the server writes
// while it serves: buffers, stack, globals, objects with their access times.
std::vector<HandTry> hand_tries(const std::vector<PageAddress>& values,
                                const HotMetadata& metadata);

}  // namespace cxltier::demo
