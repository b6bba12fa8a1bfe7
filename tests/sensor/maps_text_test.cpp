// SPDX-License-Identifier: Apache-2.0
//
// The lines of smaps and numa_maps.  The good lines were printed by Linux 6.12; the garbled ones
// are made from them by a seeded generator.
#include "runtime/sensor/maps_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cxltier {
namespace {

TEST(VmaLineText, TellsManageableMemoryFromTheRest) {
  const auto heap = parse_vma_line("7f00aa000000-7f00aa021000 rw-p 00000000 00:00 0 ");
  ASSERT_TRUE(heap.has_value());
  EXPECT_EQ(heap->range, (AddressRange{0x7f00aa000000, 0x7f00aa021000}));
  EXPECT_TRUE(heap->anonymous_private);

  const char* others[] = {
      "55d0a1c00000-55d0a1c28000 r--p 00000000 08:01 1048634    /usr/bin/redis-server",
      "55d0a1c00000-55d0a1c28000 rw-p 00000000 08:01 1048634    /usr/bin/redis-server",
      "7f00aa000000-7f00aa021000 ---p 00000000 00:00 0 ",
      "7f00aa000000-7f00aa021000 rw-s 00000000 00:01 1024       /dev/zero (deleted)",
  };
  for (const char* line : others) {
    const auto vma = parse_vma_line(line);
    ASSERT_TRUE(vma.has_value()) << line;
    EXPECT_FALSE(vma->anonymous_private) << line;
  }
}

TEST(VmaLineText, IsNoOtherLineOfSmaps) {
  for (const char* line : {"Referenced:           12 kB", "VmFlags: rd wr mr mw me ac sd", "",
                           "7f00aa021000-7f00aa000000 rw-p 00000000 00:00 0", "-", "7f-"}) {
    EXPECT_FALSE(parse_vma_line(line).has_value()) << line;
  }
}

TEST(SmapsValueText, ReadsTheFieldsThatCount) {
  EXPECT_EQ(parse_smaps_value("Rss:                 132 kB")->field, SmapsField::resident);
  EXPECT_EQ(parse_smaps_value("Rss:                 132 kB")->kib, 132u);
  EXPECT_EQ(parse_smaps_value("Referenced:           12 kB")->field, SmapsField::referenced);
  EXPECT_EQ(parse_smaps_value("AnonHugePages:      2048 kB")->field, SmapsField::huge);
  for (const char* line :
       {"THPeligible:           0", "Pss_Dirty:             0 kB", "VmFlags: rd wr", "Rss: kB",
        "Rss: 1 MB", "Rss: 99999999999999999999 kB", ""}) {
    EXPECT_FALSE(parse_smaps_value(line).has_value()) << line;
  }
}

TEST(NumaMapsText, CountsPagesByNode) {
  const auto line = parse_numa_maps_line(
      "7f00aa000000 prefer (many):0-2 anon=33 dirty=33 active=0 N0=30 N2=3 kernelpagesize_kB=4");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->begin, 0x7f00aa000000u);
  EXPECT_FALSE(line->application_policy);
  EXPECT_TRUE(line->anonymous);
  EXPECT_EQ(line->page_kib, 4u);
  ASSERT_EQ(line->node_count, 2u);
  EXPECT_EQ(line->nodes[0].node, NodeId{0});
  EXPECT_EQ(line->nodes[0].pages, 30u);
  EXPECT_EQ(line->nodes[1].node, NodeId{2});
  EXPECT_EQ(line->nodes[1].pages, 3u);
}

TEST(NumaMapsText, TellsWhoChoseThePolicy) {
  for (const char* ours : {"7f00 default anon=1 N0=1", "7f00 local", "7f00 prefer (many):0-2"}) {
    EXPECT_FALSE(parse_numa_maps_line(ours)->application_policy) << ours;
  }
  for (const char* theirs : {"7f00 bind:1 anon=1 N1=1", "7f00 interleave:0-1", "7f00 prefer:1",
                             "7f00 prefer=static:0", "7f00 weighted interleave:0,2"}) {
    EXPECT_TRUE(parse_numa_maps_line(theirs)->application_policy) << theirs;
  }
}

TEST(NumaMapsText, KnowsFilesAndHugePages) {
  EXPECT_FALSE(
      parse_numa_maps_line("7f00 default file=/usr/lib/libc.so.6 mapped=9 N0=9")->anonymous);
  EXPECT_TRUE(parse_numa_maps_line("7f00 default heap anon=2 N0=2")->anonymous);
  EXPECT_EQ(parse_numa_maps_line("7f00 default huge anon=2 N0=2 kernelpagesize_kB=2048")->page_kib,
            2048u);
}

TEST(NumaMapsText, LeavesOutWhatNoTableCanHold) {
  const auto line = parse_numa_maps_line("7f00 default N0=1 N1024=5 N99999999999=1 Nx=2 N1=x");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->node_count, 1u);
  std::string many = "7f00 default";
  for (int i = 0; i < 100; ++i) many += " N" + std::to_string(i) + "=1";
  EXPECT_EQ(parse_numa_maps_line(many)->node_count, nodes_max);
}

// Any bytes: no crash, no read beyond the text (the address sanitizer watches), and a node count
// that the array can hold.
TEST(MapsText, IsTotalOnGarbledLines) {
  const std::vector<std::string> lines = {
      "7f00aa000000-7f00aa021000 rw-p 00000000 00:00 0 [heap]",
      "Referenced:           12 kB",
      "7f00aa000000 prefer (many):0-2 anon=33 dirty=33 N0=30 N2=3 kernelpagesize_kB=4",
  };
  constexpr unsigned seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string line = lines[random() % lines.size()];
    for (auto edits = random() % 6; edits > 0; --edits) {
      if (line.empty()) break;
      const std::size_t at = random() % line.size();
      if (random() % 2 == 0) line[at] = static_cast<char>(random() % 256);
      if (random() % 4 == 0) line.erase(at, random() % 8);
    }
    const auto vma = parse_vma_line(line);
    const auto numa = parse_numa_maps_line(line);
    EXPECT_TRUE(!vma || vma->range.begin < vma->range.end) << line;
    EXPECT_TRUE(!numa || numa->node_count <= nodes_max) << line;
    static_cast<void>(parse_smaps_value(line));
  }
}

}  // namespace
}  // namespace cxltier
