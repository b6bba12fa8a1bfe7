// SPDX-License-Identifier: Apache-2.0
//
// The kernel's watermarks, from lines that Linux 6.12 printed.
#include "runtime/topology/zone_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cxltier {
namespace {

TEST(ZoneText, SumsTheZonesOfANode) {
  const char* lines[] = {"Node 0, zone      DMA",
                         "  per-node stats",
                         "      nr_inactive_anon 3",
                         "  pages free     3840",
                         "        boost    0",
                         "        min      56",
                         "        low      70",
                         "        high     84",
                         "  pagesets",
                         "    cpu: 0",
                         "              count:    12",
                         "              high:     52",
                         "Node 0, zone    DMA32",
                         "        high     9421",
                         "Node 2, zone   Normal",
                         "        high     11"};
  ZoneText text;
  std::map<int, std::uint64_t> high;
  for (const char* line : lines) {
    if (const auto mark = text.feed(line)) high[static_cast<int>(mark->node)] += mark->high.count;
  }
  EXPECT_EQ(high, (std::map<int, std::uint64_t>{{0, 84 + 9421}, {2, 11}}));
}

TEST(ZoneText, IgnoresWhatBelongsToNoNode) {
  ZoneText text;
  EXPECT_FALSE(text.feed("        high     84").has_value());
  EXPECT_FALSE(text.feed("Node x, zone DMA").has_value());
  EXPECT_FALSE(text.feed("        high     84").has_value());
  EXPECT_FALSE(text.feed("").has_value());
  EXPECT_FALSE(text.feed("Node 0").has_value());
}

}  // namespace
}  // namespace cxltier
