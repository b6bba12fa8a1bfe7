// SPDX-License-Identifier: Apache-2.0
//
// /proc/iomem, PCI configuration space, kernel texts, and names with numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/topology/platform/health_reply.h"
#include "runtime/topology/platform/iomem.h"
#include "runtime/topology/platform/kernel_facts.h"
#include "runtime/topology/platform/pci_list.h"

namespace cxltier {
namespace {

TEST(Iomem, KnowsWhatLiesInWhat) {
  const Iomem iomem = parse_iomem(
      "00000000-00000fff : Reserved\n"
      "850000000-284fffffff : CXL Window 0\n"
      "  850000000-280fffffff : region0\n"
      "    850000000-284fffffff : dax0.0\n"
      "      850000000-284fffffff : System RAM (kmem)\n"
      "fd00000000-ffffffffff : Reserved\n");

  ASSERT_EQ(iomem.ranges.size(), 6u);
  EXPECT_FALSE(iomem.is_hidden);
  EXPECT_EQ(iomem.path_of(4), "CXL Window 0 > region0 > dax0.0 > System RAM (kmem)");
  EXPECT_TRUE(iomem.is_below(3, "region"));
  EXPECT_EQ(iomem.ranges[5].parent, no_parent);
}

TEST(Iomem, ZerosMeanThatWeMayNotSee) {
  EXPECT_TRUE(parse_iomem("00000000-00000000 : System RAM\n  00000000-00000000 : x\n").is_hidden);
  EXPECT_FALSE(parse_iomem("").is_hidden);
  EXPECT_TRUE(parse_iomem("rubbish\n-:\n5-1 : backwards\n").ranges.empty());
}

class ConfigBytes {
 public:
  void put(std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
  std::array<std::uint8_t, 4096> bytes{};
};

// A CXL 1.1 device integrated into the root complex, of no class at all, with memory turned off, as
// in pciutils' cap-dvsec-cxl.
TEST(PciConfig, FindsCxlByItsDvsec) {
  ConfigBytes config;
  config.put(0x34, 0x40, 1);
  config.put(0x40, 0x0010, 2);
  config.put(0x42, 9 << 4 | 2, 2);
  config.put(0x100, 0xe00ull << 20 | 1 << 16 | 1, 4);
  config.put(0xe00, 0x550ull << 20 | 1 << 16 | 0x23, 4);
  config.put(0xe04, 0x1e98, 2);
  config.put(0xe0a, 0x001e, 2);
  config.put(0xe0c, 0x0002, 2);
  config.put(0xe1c, 0x1000'0001, 4);
  config.put(0x550, 1 << 16 | 0x2e, 4);
  const PciConfig found = parse_pci_config(config.bytes);

  EXPECT_EQ(found.port_type, PortType::integrated_endpoint);
  EXPECT_FALSE(found.maximum.width != 0);
  ASSERT_TRUE(found.cxl.has_value());
  EXPECT_EQ(found.cxl->offset, 0xe00u);
  EXPECT_TRUE(found.cxl->can_mem());
  EXPECT_FALSE(found.cxl->is_mem_enabled());
  EXPECT_EQ(found.cxl->range_size, 256u << 20);
  EXPECT_TRUE(found.cxl->range_valid);
  EXPECT_EQ(found.doe, (std::vector<std::size_t>{0x550}));
}

// Both lists are linked by the device: they may be circles.
TEST(PciConfig, CirclesEnd) {
  ConfigBytes config;
  config.put(0x34, 0x40, 1);
  config.put(0x40, 0x4001, 2);
  config.put(0x100, 0x100ull << 20 | 1 << 16 | 0x23, 4);
  const PciConfig found = parse_pci_config(config.bytes);
  EXPECT_LE(found.dvsecs.size(), 960u);
  EXPECT_FALSE(parse_pci_config({config.bytes.data(), 64}).is_extended);
  EXPECT_FALSE(parse_pci_config({}).cxl.has_value());
}

PciFunction function(const char* address, const char* parent, PciLink current, PciLink maximum) {
  PciFunction found;
  found.address = address;
  found.parent = parent;
  found.current = current;
  found.maximum = maximum;
  return found;
}

// The slower of both ends carries the bytes; the end whose maximum equals that is the limit.
TEST(PciLinks, NamesWhatLimitsALink) {
  struct Case {
    PciLink port_current;
    PciLink port_maximum;
    bool is_degraded;
    const char* limit;
  };
  const Case cases[] = {
      {{32, 16}, {64, 32}, false, "device"},
      {{16, 4}, {16, 4}, true, "port"},
      {{16, 8}, {32, 16}, true, "training"},
  };
  for (const Case& one : cases) {
    PciList list;
    list.functions.push_back(function("0000:0c:00.0", "", one.port_current, one.port_maximum));
    list.functions.push_back(function("0000:0d:00.0", "0000:0c:00.0", {32, 16}, {32, 16}));
    const auto verdict = list.link_of(list.functions[1]);

    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->is_degraded, one.is_degraded);
    EXPECT_EQ(verdict->limit, one.limit);
    EXPECT_EQ(verdict->effective.width, one.port_current.width);
  }
}

TEST(PciLinks, SpeedsAndBytes) {
  EXPECT_DOUBLE_EQ(parse_link_speed("2.5 GT/s PCIe"), 2.5);
  EXPECT_DOUBLE_EQ(parse_link_speed("32.0 GT/s PCIe"), 32);
  EXPECT_DOUBLE_EQ(parse_link_speed("Unknown"), 0);
  EXPECT_NEAR((PciLink{8, 8}).bytes_per_second() / 1e9, 7.88, 0.01);
  EXPECT_NEAR((PciLink{32, 16}).bytes_per_second() / 1e9, 63.0, 0.1);
}

TEST(KernelFacts, VersionsOptionsAndParameters) {
  EXPECT_EQ(parse_kernel_version("6.12.95+deb12-amd64"), (KernelVersion{6, 12}));
  EXPECT_EQ(parse_kernel_version("7.3-rc1"), (KernelVersion{7, 3}));
  EXPECT_FALSE(parse_kernel_version("six").has_value());
  const auto config = parse_kernel_config("# CONFIG_A is not set\nCONFIG_B=m\nCONFIG_C=\"x=y\"\n");
  EXPECT_FALSE(config.contains("CONFIG_A"));
  EXPECT_EQ(config.at("CONFIG_B"), "m");
  KernelFacts facts;
  facts.command_line = {"quiet", "efi=nosoftreserve", "efi=debug"};
  EXPECT_EQ(facts.parameter("efi"), "debug");
  EXPECT_EQ(facts.parameter("quiet"), "");
  EXPECT_FALSE(facts.parameter("ef").has_value());
  facts.log = "first\n[ 1.0] cxl: broken\nlast";
  EXPECT_EQ(facts.log_line("broken"), "[ 1.0] cxl: broken");
}

TEST(Names, NumbersCompareAsNumbers) {
  std::vector<std::string> names = {"mem10", "mem2", "mem1", "decoder10.0", "decoder9.1", "mem3"};
  std::sort(names.begin(), names.end(), is_natural_less);
  EXPECT_EQ(names, (std::vector<std::string>{"decoder9.1", "decoder10.0", "mem1", "mem2", "mem3",
                                             "mem10"}));
}

// Bytes in the order of CXL 3.1, table 8-148.
TEST(HealthInfo, IsReadWithItsUnitsAndWhatIsNotImplementedIsUnknown) {
  const std::array<std::uint8_t, 18> answer{0x06, 0x00, 0, 7, 0xf6, 0xff, 3};
  const std::optional<CxlHealth> health = parse_health_reply(answer);
  ASSERT_TRUE(health);
  EXPECT_EQ(health->maintenance_needed, false);
  EXPECT_EQ(health->performance_degraded, true);
  EXPECT_EQ(health->replacement_needed, true);
  EXPECT_EQ(health->media_normal, true);
  EXPECT_EQ(health->life_used, 7);
  EXPECT_EQ(health->temperature, -10);
  EXPECT_EQ(health->dirty_shutdowns, 3u);

  const std::array<std::uint8_t, 18> nothing{0, 1, 0, 0xff, 0xff, 0x7f};
  const std::optional<CxlHealth> unknown = parse_health_reply(nothing);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->media_normal, false);
  EXPECT_FALSE(unknown->life_used);
  EXPECT_FALSE(unknown->temperature);
  EXPECT_FALSE(parse_health_reply(std::span(answer).first(17)));
}

}  // namespace
}  // namespace cxltier
