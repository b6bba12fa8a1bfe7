// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of CXL guests: every value stands in a file of the snapshot, or in QEMU's command line.
#include <gtest/gtest.h>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/platform/platform.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

Platform snapshot(const std::string& name) {
  const std::string root = CXLTIER_FIXTURES "/" + name;
  FileTreeLinux tree(root.c_str());
  return read_platform(tree, {true, {}});
}

TEST(PlatformSnapshot, SingleDevice) {
  const Platform platform = snapshot("single-6.12");
  const CxlBus& bus = platform.cxl;

  ASSERT_TRUE(platform.acpi.cedt.has_value());
  EXPECT_EQ(platform.acpi.cedt->host_bridges.size(), 1u);
  EXPECT_EQ(platform.acpi.cedt->host_bridges[0].uid, 12u);
  EXPECT_EQ(platform.acpi.cedt->windows[0].restrictions, 0xf);
  EXPECT_FALSE(platform.acpi.hmat.has_value());
  ASSERT_EQ(bus.windows().size(), 1u);
  EXPECT_EQ(bus.windows()[0]->start, 0x390000000u);
  EXPECT_EQ(bus.windows()[0]->targets, (std::vector<std::string>{"12"}));
  ASSERT_EQ(bus.regions.size(), 1u);
  EXPECT_EQ(bus.regions[0].size, 512u << 20);
  EXPECT_TRUE(bus.regions[0].is_committed);
  EXPECT_EQ(bus.memory("mem0")->serial, 1u);
  EXPECT_EQ(bus.memory("mem0")->numa_node, -1);
  EXPECT_EQ(bus.path_of("mem0"), (std::vector<std::string>{"root0", "port1", "endpoint2"}));
  ASSERT_EQ(platform.dax.size(), 1u);
  EXPECT_EQ(platform.dax[0].target_node, 1);
  EXPECT_EQ(platform.dax[0].region, "region0");
  EXPECT_TRUE(platform.dax[0].is_system_ram());
  EXPECT_EQ(platform.blocks.size, 0x8000000u);
  EXPECT_EQ(platform.blocks.within(0x390000000, 512u << 20).size(), 4u);
  EXPECT_EQ(platform.kernel.version, (KernelVersion{6, 12}));
}

TEST(PlatformSnapshot, InterleavedAcrossHostBridges) {
  const Platform platform = snapshot("interleave2-hb-6.12");
  const CxlRegion* region = platform.cxl.region("region0");

  EXPECT_EQ(platform.acpi.cedt->windows[0].targets, (std::vector<std::uint32_t>{12, 222}));
  EXPECT_EQ(platform.acpi.cedt->windows[0].granularity, 8192u);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->ways, 2u);
  EXPECT_EQ(region->granularity, 8192u);
  EXPECT_EQ(region->memories, (std::vector<std::string>{"mem0", "mem1"}));
  EXPECT_EQ(platform.cxl.memory("mem1")->serial, 2u);
}

TEST(PlatformSnapshot, BelowASwitch) {
  const Platform platform = snapshot("switch-interleave2-6.12");

  EXPECT_EQ(platform.cxl.memory("mem0")->serial, 2u);
  EXPECT_EQ(platform.cxl.memory("mem1")->serial, 1u);
  EXPECT_EQ(platform.cxl.path_of("mem0").size(), 4u);
  EXPECT_EQ(platform.cxl.region("region0")->granularity, 256u);
  const PciFunction* device = platform.pci.find("0000:0f:00.0");
  ASSERT_NE(device, nullptr);
  EXPECT_TRUE(device->is_cxl_memory());
  EXPECT_EQ(device->parent, "0000:0e:00.0");
}

TEST(PlatformSnapshot, TwoSocketsWithAGenericPort) {
  const Platform old_kernel = snapshot("genport-2socket-6.12");
  const Platform new_kernel = snapshot("genport-2socket-7.3");

  ASSERT_EQ(old_kernel.acpi.srat->generic.size(), 1u);
  EXPECT_EQ(old_kernel.acpi.srat->generic[0].device, "ACPI0016 UID 12");
  EXPECT_EQ(old_kernel.acpi.srat->generic[0].domain, 2u);
  EXPECT_EQ(old_kernel.acpi.slit->distances,
            (std::vector<std::uint8_t>{10, 21, 14, 21, 10, 24, 14, 24, 10}));
  EXPECT_EQ(old_kernel.cxl.regions[0].performance.read_latency, 17210u);
  EXPECT_EQ(old_kernel.cxl.memories[0].ram_qos, 0);
  EXPECT_EQ(new_kernel.cxl.regions[0].performance.read_latency, 212u);
  EXPECT_EQ(new_kernel.tiering.weights_auto, true);
  EXPECT_EQ(new_kernel.tiering.weights.at(3), 1u);
}

TEST(PlatformSnapshot, NodesWithoutCpusOfFirmware) {
  const Platform platform = snapshot("cpuless-hmat-6.12");

  EXPECT_FALSE(platform.has_cxl_trace());
  const acpi::Hmat& hmat = *platform.acpi.hmat;
  ASSERT_EQ(hmat.localities.size(), 2u);
  EXPECT_EQ(hmat.localities[0].values,
            (std::vector<std::uint64_t>{100'000, 180'000, 250'000, 180'000, 100'000, 350'000}));
  EXPECT_EQ(hmat.localities[1].values[2], 30720u);
}

// What the listing says is what sysfs says.
TEST(PlatformSnapshot, ListingAgreesWithSysfs) {
  for (const char* name : {"single-6.12", "interleave2-hb-6.12", "switch-interleave2-6.12"}) {
    const std::string root = std::string(CXLTIER_FIXTURES "/") + name;
    FileTreeLinux tree(root.c_str());
    Files files(tree);
    const CxlBus bus = read_cxl_bus(files);
    MemoryTree listed_tree;
    listed_tree.files["cxl-list-vvv.json"] = *files.whole("cxl-list-vvv.json");
    const CxlBus listed = read_platform(listed_tree, {true, {}}).cxl;

    EXPECT_EQ(listed.source, CxlSource::listing);
    ASSERT_EQ(listed.memories.size(), bus.memories.size()) << name;
    for (const CxlMemdev& memory : bus.memories) {
      const CxlMemdev* other = listed.memory(memory.name);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(other->serial, memory.serial);
      EXPECT_EQ(other->host, memory.host);
      EXPECT_EQ(other->ram_size, memory.ram_size);
      EXPECT_EQ(listed.path_of(memory.name), bus.path_of(memory.name));
    }
    ASSERT_EQ(listed.regions.size(), 1u);
    EXPECT_EQ(listed.regions[0].memories, bus.regions[0].memories);
    EXPECT_EQ(listed.regions[0].start, bus.regions[0].start);
    EXPECT_EQ(listed.regions[0].ways, bus.regions[0].ways);
  }
}

// Garbled files of a whole snapshot: values go missing, nothing breaks.
TEST(PlatformSnapshot, GarbledFilesCostTheirValuesOnly) {
  const std::string root = CXLTIER_FIXTURES "/switch-interleave2-6.12";
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    FileTreeLinux whole(root.c_str());
    GarblingTree tree(whole, seed);
    const Platform platform = read_platform(tree, {true, {}});
    EXPECT_LE(platform.cxl.memories.size(), 2u);
  }
}

}  // namespace
}  // namespace cxltier
