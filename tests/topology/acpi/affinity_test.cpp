// SPDX-License-Identifier: Apache-2.0
//
// SRAT, SLIT and HMAT: those of a published example of the Linux kernel's documentation (one device
// for each host bridge), typed in anew, and tables that are wrong.
#include <gtest/gtest.h>

#include "runtime/topology/acpi/hmat.h"
#include "runtime/topology/acpi/slit.h"
#include "runtime/topology/acpi/srat.h"
#include "tests/topology/acpi/table_bytes.h"

namespace cxltier::acpi {
namespace {

void add_memory(TableBytes& table, std::uint64_t domain, std::uint64_t base, std::uint64_t flags) {
  table.number(1, 1).number(40, 1).number(domain, 4).number(0, 2).number(base, 8);
  table.number(std::uint64_t{4} << 30, 8).number(0, 4).number(flags, 4).number(0, 8);
}

TableBytes srat_head() {
  TableBytes table("SRAT", 3);
  table.number(1, 4).number(0, 8);
  return table;
}

TEST(Srat, ReadsEnabledEntriesOfEveryKind) {
  TableBytes table = srat_head();
  // A processor whose proximity domain needs its high bytes.
  table.number(0, 1).number(16, 1).number(2, 1).number(9, 1).number(1, 4);
  table.number(0, 1).number(1, 1).number(0, 2).number(0, 4);
  table.number(2, 1).number(24, 1).number(0, 2).number(5, 4).number(300, 4).number(1, 4).number(0,
                                                                                                8);
  add_memory(table, 1, 0x10'0000'0000, 0x3);
  add_memory(table, 2, 0x11'0000'0000, 0x5);
  add_memory(table, 3, 0, 0);  // disabled
  table.number(6, 1).number(32, 1).number(0, 1).number(0, 1).number(2, 4).text("ACPI0016");
  table.number(12, 4).number(0, 4).number(1, 4).number(0, 4);
  table.number(5, 1).number(32, 1).number(0, 1).number(1, 1).number(4, 4).number(1, 2);
  table.number(0x0d08, 2).number(0, 12).number(1, 4).number(0, 4);
  const Srat srat = parse_srat(table.finish());

  EXPECT_TRUE(srat.faults.empty());
  ASSERT_EQ(srat.processors.size(), 2u);
  EXPECT_EQ(srat.processors[0].domain, 0x0102u);
  EXPECT_EQ(srat.processors[1].apic_id, 300u);
  ASSERT_EQ(srat.memory.size(), 2u);
  EXPECT_EQ(srat.memory[0].base, 0x10'0000'0000u);
  EXPECT_TRUE(srat.memory[0].is_hot_pluggable);
  EXPECT_TRUE(srat.memory[1].is_persistent);
  EXPECT_EQ(srat.entries_disabled, 1u);
  ASSERT_EQ(srat.generic.size(), 2u);
  EXPECT_EQ(srat.generic[0].device, "ACPI0016 UID 12");
  EXPECT_EQ(srat.generic[0].kind, GenericKind::port);
  EXPECT_EQ(srat.generic[1].device, "PCI 0001:0d:01.0");
}

TEST(Srat, EntryThatLeavesTheTableEndsTheWalk) {
  TableBytes table = srat_head();
  table.number(1, 1).number(200, 1);
  const Srat srat = parse_srat(table.finish());
  ASSERT_EQ(srat.faults.size(), 1u);
  EXPECT_EQ(srat.faults[0].offset, header_size + 12);
}

TEST(Slit, ReadsRows) {
  TableBytes table("SLIT", 1);
  table.number(3, 8);
  for (const int distance : {10, 20, 20, 255, 10, 255, 255, 255, 10}) {
    table.number(static_cast<std::uint64_t>(distance), 1);
  }
  const Slit slit = parse_slit(table.finish());

  EXPECT_TRUE(slit.faults.empty());
  EXPECT_EQ(slit.localities, 3u);
  EXPECT_EQ(slit.distances[1], 20);
  EXPECT_EQ(slit.distances[3], distance_unreachable);
}

// A count whose square overflows 64 bits must not read as a small one.
TEST(Slit, CountThatDoesNotFitIsAFault) {
  for (const std::uint64_t count : {4ull, 1024ull, 1ull << 32, ~0ull}) {
    TableBytes table("SLIT", 1);
    const Slit slit = parse_slit(table.number(count, 8).number(10, 1).finish());
    EXPECT_EQ(slit.faults.size(), 1u) << count;
    EXPECT_TRUE(slit.distances.empty());
  }
}

TableBytes locality(std::uint8_t revision, std::uint64_t kind, std::uint64_t base) {
  TableBytes table("HMAT", revision);
  table.number(0, 4);
  table.number(1, 2).number(0, 2).number(32 + 16 + 8, 4).number(0, 1).number(kind, 1).number(0, 2);
  table.number(1, 4).number(3, 4).number(0, 4).number(base, 8);
  table.number(0, 4).number(0, 4).number(1, 4).number(2, 4);
  table.number(0x80, 2).number(0, 2).number(0xffff, 2).number(0, 2);
  return table;
}

TEST(Hmat, ConvertsBothRevisionsAndMarksWhatIsUnknown) {
  struct Case {
    std::uint8_t revision;
    std::uint64_t kind;
    std::uint64_t base;
    std::uint64_t expected;
  };
  // 128 times 1,000 ps; 128 times 10 ns / 10; 128 times 1,024 MB/s.
  const Case cases[] = {{2, 0, 1000, 128'000}, {1, 0, 10, 128'000}, {2, 3, 1024, 131'072}};
  for (const Case& one : cases) {
    const Hmat hmat = parse_hmat(locality(one.revision, one.kind, one.base).finish());
    EXPECT_TRUE(hmat.faults.empty());
    ASSERT_EQ(hmat.localities.size(), 1u);
    const Locality& found = hmat.localities[0];
    EXPECT_EQ(found.targets, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(found.values,
              (std::vector<std::uint64_t>{one.expected, value_unknown, value_unreachable}));
  }
}

TEST(Hmat, MatrixThatDoesNotFitIsLeftOut) {
  TableBytes table("HMAT", 2);
  table.number(0, 4).number(1, 2).number(0, 2).number(40, 4).number(0, 1).number(0, 1).number(0, 2);
  table.number(0xffff'ffff, 4).number(0xffff'ffff, 4).number(0, 4).number(1, 8).number(0, 8);
  const Hmat hmat = parse_hmat(table.finish());
  EXPECT_TRUE(hmat.localities.empty());
  ASSERT_EQ(hmat.faults.size(), 1u);
  EXPECT_EQ(hmat.faults[0].offset, header_size + 4);
}

TEST(Hmat, ReadsDomainsAndSideCaches) {
  TableBytes table("HMAT", 2);
  table.number(0, 4);
  table.number(0, 2).number(0, 2).number(40, 4).number(1, 2).number(0, 2).number(0, 4).number(2, 4);
  table.number(0, 20);
  table.number(2, 2).number(0, 2).number(32, 4).number(3, 4).number(0, 4).number(1 << 20, 8);
  table.number(0x111, 4).number(0, 4);
  const Hmat hmat = parse_hmat(table.finish());
  EXPECT_TRUE(hmat.faults.empty());
  ASSERT_EQ(hmat.domains.size(), 1u);
  EXPECT_TRUE(hmat.domains[0].has_initiator);
  EXPECT_EQ(hmat.domains[0].memory, 2u);
  ASSERT_EQ(hmat.caches.size(), 1u);
  EXPECT_EQ(hmat.caches[0].size, 1u << 20);
}

}  // namespace
}  // namespace cxltier::acpi
