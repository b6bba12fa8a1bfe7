// SPDX-License-Identifier: Apache-2.0
//
// Outputs of `cxl list`, `daxctl list` and `lsmem` as several versions print them: shapes and
// values are those of published outputs (pmem/ndctl issues 276 and 279, stevescargall.com 2023 and
// 2025, the Linux kernel's CXL documentation), typed in anew.
#include <gtest/gtest.h>

#include "runtime/topology/platform/cxl_listing.h"
#include "runtime/topology/platform/memory_blocks.h"

namespace cxltier {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// Without -v the kinds nest below their names.
TEST(CxlListing, ReadsTheShortForm) {
  const CxlBus bus = parse_cxl_listing(R"([
    {"memdevs": [{"memdev": "mem0", "ram_size": 137438953472, "serial": 12208648699093770240,
                  "numa_node": 1, "host": "0000:b4:00.0"}]},
    {"regions": [{"region": "region9", "resource": 7415261036544, "size": 137438953472,
                  "type": "ram", "interleave_ways": 1, "interleave_granularity": 256,
                  "decode_state": "commit"}]}])");

  ASSERT_EQ(bus.memories.size(), 1u);
  EXPECT_EQ(bus.memories[0].serial, 12208648699093770240u);
  EXPECT_EQ(bus.memories[0].ram_size, 128 * gib);
  EXPECT_EQ(bus.memories[0].numa_node, 1);
  EXPECT_TRUE(bus.memories[0].is_enabled);
  ASSERT_EQ(bus.regions.size(), 1u);
  EXPECT_EQ(bus.regions[0].start, 0x6be80000000u);
  EXPECT_TRUE(bus.regions[0].is_committed);
}

// A negative extent is garbage, and a serial above 2^63 may be printed as a negative number.
TEST(CxlListing, ValuesThatNoDeviceHasAreUnknown) {
  const CxlBus bus = parse_cxl_listing(R"([
    {"memdevs": [{"memdev": "mem1", "ram_size": 68719476736, "serial": -9223372036854775807,
                  "numa_node": 1, "host": "0000:c1:00.0", "state": "disabled",
                  "health": {"media_normal": true, "temperature": -95, "life_used_percent": -95,
                             "dirty_shutdowns": 2}}]},
    {"root decoders": [{"decoder": "decoder0.0", "resource": 825975898112, "size": 68719476736,
                        "interleave_ways": 1, "max_available_extent": -139586437121,
                        "volatile_capable": true, "nr_targets": 1}]}])");

  ASSERT_EQ(bus.memories.size(), 1u);
  EXPECT_EQ(bus.memories[0].serial, 0x8000'0000'0000'0001u);
  EXPECT_FALSE(bus.memories[0].is_enabled);
  ASSERT_TRUE(bus.memories[0].health.has_value());
  EXPECT_FALSE(bus.memories[0].health->temperature.has_value());
  EXPECT_FALSE(bus.memories[0].health->life_used.has_value());
  EXPECT_EQ(bus.memories[0].health->media_normal, true);
  EXPECT_EQ(bus.memories[0].health->dirty_shutdowns, 2u);
  ASSERT_EQ(bus.windows().size(), 1u);
  EXPECT_TRUE(bus.windows()[0]->has_ram);
  EXPECT_LT(*bus.windows()[0]->available, 0);
}

// -u turns numbers into words, and the top into an object.
TEST(CxlListing, ReadsTheHumanForm) {
  const CxlBus bus = parse_cxl_listing(
      R"x({"memdev": "mem0", "ram_size": "16.00 GiB (17.18 GB)", "serial": "0x31",
          "host": "0000:0d:00.0"})x");
  ASSERT_EQ(bus.memories.size(), 1u);
  EXPECT_EQ(bus.memories[0].ram_size, 16 * gib);
  EXPECT_EQ(bus.memories[0].serial, 0x31u);
}

// With -vvv a region's mappings name devices, and everything hangs below its port.
TEST(CxlListing, ReadsTheNestedForm) {
  const CxlBus bus = parse_cxl_listing(R"([{"bus": "root0", "provider": "ACPI.CXL",
    "ports:root0": [{"port": "port1", "host": "pci0000:d2", "depth": 1,
      "endpoints:port1": [{"endpoint": "endpoint5", "host": "mem0", "depth": 2,
        "decoders_committed": 1,
        "memdev": {"memdev": "mem0", "ram_size": 137438953472, "serial": 0,
                   "host": "0000:d3:00.0"},
        "decoders:endpoint5": [{"decoder": "decoder5.0", "resource": 825975898112,
                                "size": 137438953472, "region": "region0", "mode": "ram"}]}]}],
    "decoders:root0": [{"decoder": "decoder0.0", "resource": 825975898112, "size": 137438953472,
      "max_available_extent": 0, "volatile_capable": true,
      "regions:decoder0.0": [{"region": "region0", "resource": 825975898112,
        "size": 137438953472, "type": "ram", "interleave_ways": 1, "decode_state": "commit",
        "mappings": [{"position": 0, "memdev": "mem0", "decoder": "decoder5.0"}]}]}]}])");

  EXPECT_EQ(bus.path_of("mem0"), (std::vector<std::string>{"root0", "port1", "endpoint5"}));
  ASSERT_NE(bus.region_of("mem0"), nullptr);
  EXPECT_EQ(bus.region_of("mem0")->window, "decoder0.0");
  EXPECT_EQ(bus.region("region0")->targets[0], "decoder5.0");
  EXPECT_EQ(bus.endpoint_of("mem0")->decoders_committed, 1u);
  EXPECT_EQ(bus.free_of(*bus.windows()[0]), 0u);
}

TEST(CxlListing, NoJsonIsAFaultAndDeepNestingAnEnd) {
  EXPECT_EQ(parse_cxl_listing("Warning: no matching devices found").faults.size(), 1u);
  const CxlBus deep = parse_cxl_listing(std::string(5000, '[') + std::string(5000, ']'));
  EXPECT_TRUE(deep.memories.empty());
  EXPECT_TRUE(parse_cxl_listing("[ ]").memories.empty());
}

TEST(DaxctlListing, ReadsPathsWithEscapedSlashesAndBlocks) {
  const std::vector<DaxInstance> list = parse_daxctl_listing(R"([
    {"path": "\/platform\/hmem.0", "id": 0, "size": 17179869184, "devices": [
      {"chardev": "dax0.0", "size": 17179869184, "target_node": 1, "align": 2097152,
       "mode": "system-ram", "online_memblocks": 0, "total_memblocks": 8}]},
    {"path": "\/platform\/ACPI0017:00\/root0\/decoder0.0\/region3\/dax_region3", "devices": [
      {"chardev": "dax3.0", "size": 268435456, "mode": "devdax"}]}])");

  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].origin, DaxOrigin::hmem);
  EXPECT_TRUE(list[0].is_system_ram());
  EXPECT_EQ(list[0].blocks_total, 8u);
  EXPECT_EQ(list[1].origin, DaxOrigin::cxl);
  EXPECT_EQ(list[1].region, "region3");
  EXPECT_FALSE(list[1].target_node.has_value());
}

TEST(Lsmem, ReadsBlocksWhateverTheOrderOfColumns) {
  const auto memory = parse_lsmem(
      "$ lsmem -o+NODE,ZONES\n"
      "RANGE                                  SIZE   STATE REMOVABLE     BLOCK NODE           "
      "ZONES\n"
      "0x0000000000000000-0x000000007fffffff    2G  online       yes         0           None    "
      "0\n"
      "0x000006be80000000-0x000006de7fffffff  128G offline                 3453-3516    2 "
      "Normal/Movable\n"
      "\n"
      "Memory block size:           2G\n");

  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->size, 2 * gib);
  EXPECT_EQ(memory->blocks.size(), 65u);
  const auto cxl = memory->within(0x6be80000000, 128 * gib);
  ASSERT_EQ(cxl.size(), 64u);
  EXPECT_EQ(cxl[0]->index, 3453u);
  EXPECT_FALSE(cxl[0]->is_online);
  EXPECT_FALSE(parse_lsmem("RANGE\n0x0-0x1\n").has_value());
}

}  // namespace
}  // namespace cxltier
