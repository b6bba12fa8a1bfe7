// SPDX-License-Identifier: Apache-2.0
//
// Placements of the rows; see the header.
#include "bench/redis_demo/placement.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>

namespace cxltier::demo {
namespace {

constexpr std::size_t split_parts = 4;  // 1 of 4: the budget is a quarter

std::uint64_t distance(PageAddress a, PageAddress b) { return a > b ? a - b : b - a; }

// Adds pages of a list while there is room; pages that the process no longer has are left out.
void add_wanted(const std::vector<PageAddress>& list, std::span<const PageAddress> pages,
                std::uint64_t budget, std::unordered_set<PageAddress>& chosen) {
  for (PageAddress page : list) {
    if (chosen.size() >= budget) return;
    if (std::binary_search(pages.begin(), pages.end(), page)) chosen.insert(page);
  }
}

std::vector<PageAddress> by_distance(std::span<const PageAddress> pages, PageAddress middle) {
  std::vector<PageAddress> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end(), [middle](PageAddress a, PageAddress b) {
    return distance(a, middle) < distance(b, middle);
  });
  return sorted;
}

}  // namespace

Placement place_all_on_dram(std::span<const PageAddress> pages) {
  return {{pages.begin(), pages.end()}, {}};
}

Placement place_all_on_cxl(std::span<const PageAddress> pages) {
  return {{}, {pages.begin(), pages.end()}};
}

Placement place_split(std::span<const PageAddress> pages) {
  Placement placement;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    (i % split_parts == 0 ? placement.dram : placement.cxl).push_back(pages[i]);
  }
  return placement;
}

Placement place_by_hand(std::span<const PageAddress> pages,
                        std::span<const std::vector<PageAddress>> wanted,
                        std::span<const PageAddress> around, std::uint64_t budget) {
  std::unordered_set<PageAddress> chosen;
  for (const std::vector<PageAddress>& list : wanted) add_wanted(list, pages, budget, chosen);
  const PageAddress middle = around.empty() ? 0 : around[around.size() / 2];
  add_wanted(by_distance(pages, middle), pages, budget, chosen);
  Placement placement;
  for (PageAddress page : pages) {
    (chosen.count(page) != 0 ? placement.dram : placement.cxl).push_back(page);
  }
  return placement;
}

std::vector<HandTry> hand_tries(const std::vector<PageAddress>& values,
                                const HotMetadata& metadata) {
  const HotMetadata& m = metadata;
  const auto first = HandTry::Written::first;
  std::vector<HandTry> tries;
  tries.push_back({"values", {values}});
  if (m.entries_found == 0) {
    // Another Redis with other structures: what it writes is all that is known of its metadata.
    tries.push_back({"written, objects, values", {m.objects, values}, first});
    return tries;
  }
  tries.push_back({"table, values", {m.table, values}});
  tries.push_back({"written, table, entries, keys, objects, values",
                   {m.table, m.entries, m.keys, m.objects, values},
                   first});
  tries.push_back({"written, table, entries, keys, objects, values, entries in front",
                   {m.table, m.entries, m.keys, m.objects, values, m.in_front},
                   first});
  return tries;
}

}  // namespace cxltier::demo
