// SPDX-License-Identifier: Apache-2.0
//
// CEDT of a two-socket server with four-way XOR windows, persistent ones, and one CXL 1.1 host
// bridge. The values are those of a published table (stevescargall.com, 2025-06), typed in anew.
#include "runtime/topology/acpi/cedt.h"

#include <gtest/gtest.h>

#include "tests/topology/acpi/table_bytes.h"

namespace cxltier::acpi {
namespace {

constexpr std::uint64_t mib256 = std::uint64_t{256} << 20;

TableBytes server_table() {
  TableBytes table("CEDT", 1);
  for (const std::uint64_t uid : {0x3, 0x23, 0x43, 0x53, 0x103, 0x123, 0x143, 0x153}) {
    table.chbs(uid, 1, 0xd000'0000 + uid * 0x10000);
  }
  table.chbs(0x122, 0, 0xddfb'e000);
  table.cfmws({0x100'8000'0000, 0x2df'0000'0000, 2, 1, 0x6, 0, {0x3, 0x23, 0x43, 0x53}});
  table.cfmws({0x3df'8000'0000, 0xb7'c000'0000, 0, 0, 0x6, 0, {0x3}});
  table.cfmws({0x6be'8000'0000 - 848 * (std::uint64_t{1} << 30),
               0xd4'0000'0000 * 2,
               0,
               0,
               0xa,
               1,
               {0x122}});
  return table.cxims(0, {0x404100, 0x808200});
}

TEST(Cedt, ReadsAServersTable) {
  const Cedt cedt = parse_cedt(server_table().finish());

  EXPECT_TRUE(cedt.faults.empty()) << cedt.faults[0].text;
  EXPECT_EQ(cedt.header.oem, "TEST  ");
  ASSERT_EQ(cedt.host_bridges.size(), 9u);
  EXPECT_FALSE(cedt.host_bridges[0].is_restricted());
  EXPECT_TRUE(cedt.host_bridges[8].is_restricted());
  EXPECT_EQ(cedt.host_bridges[8].uid, 0x122u);
  EXPECT_EQ(cedt.host_bridges[8].base, 0xddfb'e000u);
  EXPECT_EQ(cedt.host_bridges[8].length, 0x2000u);
  ASSERT_EQ(cedt.windows.size(), 3u);
  const Window& wide = cedt.windows[0];
  EXPECT_EQ(wide.base, 0x100'8000'0000u);
  EXPECT_EQ(wide.size >> 30, 2940u);
  EXPECT_EQ(wide.ways, 4u);
  EXPECT_EQ(wide.arithmetic, Arithmetic::exclusive_or);
  EXPECT_EQ(wide.granularity, 256u);
  EXPECT_EQ(wide.restrictions, 0x6);
  EXPECT_TRUE(wide.is_volatile());
  EXPECT_EQ(wide.targets, (std::vector<std::uint32_t>{0x3, 0x23, 0x43, 0x53}));
  EXPECT_EQ(cedt.windows[1].size >> 30, 735u);
  EXPECT_EQ(cedt.windows[1].arithmetic, Arithmetic::modulo);
  EXPECT_FALSE(cedt.windows[2].is_volatile());
  EXPECT_EQ(cedt.windows[2].qos_group, 1);
  ASSERT_EQ(cedt.xor_maps.size(), 1u);
  EXPECT_EQ(cedt.xor_maps[0].maps, (std::vector<std::uint64_t>{0x404100, 0x808200}));
}

TEST(Cedt, DecodesEveryNumberOfWays) {
  const std::uint64_t codes[] = {0, 1, 2, 3, 4, 8, 9, 10};
  const std::uint32_t ways[] = {1, 2, 4, 8, 16, 3, 6, 12};
  for (std::size_t i = 0; i < std::size(codes); ++i) {
    TableBytes table("CEDT", 1);
    table.chbs(1, 1, 0);
    table.cfmws({0, mib256 * ways[i], codes[i], 0, 6, 0, std::vector<std::uint32_t>(ways[i], 1)});
    const Cedt cedt = parse_cedt(table.finish());
    ASSERT_EQ(cedt.windows.size(), 1u);
    EXPECT_EQ(cedt.windows[0].ways, ways[i]);
    EXPECT_EQ(cedt.windows[0].targets.size(), ways[i]);
    EXPECT_TRUE(cedt.faults.empty());
  }
}

struct BadWindow {
  const char* what;
  TableBytes::Window window;
};

TEST(Cedt, NamesWhatIsWrongWithAWindow) {
  const BadWindow cases[] = {
      {"reserved", {0, mib256, 7, 0, 6, 0, {}}},
      {"arithmetic 2", {0, mib256, 0, 2, 6, 0, {1}}},
      {"not aligned", {4096, mib256, 0, 0, 6, 0, {1}}},
      {"no CHBS describes", {0, mib256, 0, 0, 6, 0, {99}}},
      {"1 of 2 targets", {0, mib256 * 2, 1, 0, 6, 0, {1}}},
      {"by XOR, which needs 1 maps", {0, mib256 * 2, 1, 1, 6, 0, {1, 1}}},
      {"leaves the address space", {~std::uint64_t{0} - mib256 + 1, mib256 * 2, 0, 0, 6, 0, {1}}},
  };
  for (const BadWindow& bad : cases) {
    TableBytes table("CEDT", 1);
    const Cedt cedt = parse_cedt(table.chbs(1, 1, 0).cfmws(bad.window).finish());

    bool is_named = false;
    for (const Fault& fault : cedt.faults) {
      is_named |= fault.text.find(bad.what) != std::string::npos;
      EXPECT_TRUE(fault.section.starts_with("CXL 3.1, 9.18.1"));
      EXPECT_GE(fault.offset, header_size + 32);  // within the window's entry
    }
    EXPECT_TRUE(is_named) << bad.what;
  }
}

// The record is 17 bytes long: its address stands at an odd offset.
TEST(Cedt, ReadsRdpasAndSkipsWhatItDoesNotKnow) {
  TableBytes table("CEDT", 1);
  table.number(3, 1).number(0, 1).number(17, 2).number(1, 2).number(0x6b08, 2).number(1, 1);
  table.number(0x1122'3344'5566'7788, 8);
  table.number(200, 1).number(0, 1).number(6, 2).number(0, 2);
  const Cedt cedt = parse_cedt(table.chbs(7, 1, 0).finish());

  ASSERT_EQ(cedt.associations.size(), 1u);
  EXPECT_EQ(cedt.associations[0].segment, 1);
  EXPECT_EQ(cedt.associations[0].bdf, 0x6b08);
  EXPECT_TRUE(cedt.associations[0].is_cache_mem);
  EXPECT_EQ(cedt.associations[0].address, 0x1122'3344'5566'7788u);
  EXPECT_EQ(cedt.entries_unknown, 1u);
  EXPECT_EQ(cedt.host_bridges.size(), 1u);
}

TEST(Cedt, EntryOfLengthZeroEndsTheWalk) {
  TableBytes table("CEDT", 1);
  table.chbs(7, 1, 0).number(1, 1).number(0, 1).number(0, 2).chbs(8, 1, 0);
  const Cedt cedt = parse_cedt(table.finish());

  EXPECT_EQ(cedt.host_bridges.size(), 1u);
  ASSERT_EQ(cedt.faults.size(), 1u);
  EXPECT_EQ(cedt.faults[0].offset, header_size + 32);
}

// Every prefix of a good table: the parser says that it is truncated and keeps what is whole.
TEST(Cedt, EveryTruncationIsAFault) {
  const std::vector<std::uint8_t> whole = server_table().finish();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Cedt cedt = parse_cedt({whole.data(), length});
    EXPECT_FALSE(cedt.faults.empty()) << length;
    EXPECT_LE(cedt.host_bridges.size(), 9u);
  }
}

TEST(Cedt, ChecksumAndSignatureAreChecked) {
  std::vector<std::uint8_t> bytes = server_table().finish();
  bytes[40] ^= 1;
  EXPECT_EQ(parse_cedt(bytes).faults[0].offset, 9u);
  bytes[0] = 'X';
  EXPECT_TRUE(parse_cedt(bytes).windows.empty());
}

}  // namespace
}  // namespace cxltier::acpi
