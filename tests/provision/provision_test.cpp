// SPDX-License-Identifier: Apache-2.0
//
// Plans on snapshots, and their execution on a sysfs in memory whose writes fail one after the
// other: whatever fails, everything is as it was.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "runtime/os/file_tree_linux.h"
#include "runtime/provision/provisioner.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

Platform snapshot(const std::string& name) {
  const std::string root = CXLTIER_FIXTURES "/" + name;
  FileTreeLinux tree(root.c_str());
  return read_platform(tree, {true, {}});
}

// Takes every device out of its region, as if nobody had made one.
Platform idle(const std::string& name) {
  Platform platform = snapshot(name);
  for (CxlDecoder& decoder : platform.cxl.decoders) {
    decoder.region.clear();
    if (decoder.parent.starts_with("endpoint")) decoder.size = decoder.dpa_size = 0;
    if (!decoder.next_region.empty()) decoder.next_region = "region0";
  }
  for (CxlPort& port : platform.cxl.ports) port.decoders_committed = 0;
  platform.cxl.regions.clear();
  platform.dax.clear();
  return platform;
}

std::vector<std::string> members_of(const RegionPlan& region) {
  std::vector<std::string> names;
  for (const RegionMember& member : region.members) names.push_back(member.memory);
  return names;
}

using Names = std::vector<std::string>;

TEST(ProvisionPlan, NothingToDoWhereAllIsInUse) {
  const ProvisionPlan plan = plan_provision(snapshot("single-6.12"), {});
  EXPECT_TRUE(plan.is_empty());
  EXPECT_TRUE(plan.obstacles.empty());
  EXPECT_NE(text_of(plan).find("nothing to do"), std::string::npos);
}

TEST(ProvisionPlan, OneIdleDevice) {
  const ProvisionPlan plan = plan_provision(snapshot("no-region-6.12"), {});
  ASSERT_EQ(plan.regions.size(), 1u);
  EXPECT_EQ(plan.regions[0].name, "region0");
  EXPECT_EQ(plan.regions[0].bytes(), 512u << 20);
  const std::string text = text_of(plan);
  EXPECT_NE(text.find("echo region0 > /sys/bus/cxl/devices/decoder0.0/create_ram_region"),
            std::string::npos);
  EXPECT_NE(text.find("cxl create-region -t ram -d decoder0.0 -w 1 -g 256 -m mem0"),
            std::string::npos);
}

// Below an interleaved window the granularity is the window's, and members alternate between
// bridges.
TEST(ProvisionPlan, AcrossHostBridges) {
  const ProvisionPlan plan = plan_provision(idle("interleave2-hb-6.12"), {});
  ASSERT_EQ(plan.regions.size(), 1u);
  EXPECT_EQ(plan.regions[0].granularity, 8192u);
  EXPECT_EQ(plan.regions[0].member_bytes, 256u << 20);
  EXPECT_EQ(members_of(plan.regions[0]), (Names{"mem0", "mem1"}));
}

TEST(ProvisionPlan, BelowASwitchTogetherOrApart) {
  const Platform platform = idle("switch-interleave2-6.12");
  const ProvisionPlan together = plan_provision(platform, {});
  const ProvisionPlan apart = plan_provision(platform, {false, false});

  ASSERT_EQ(together.regions.size(), 1u);
  EXPECT_EQ(together.regions[0].granularity, 256u);
  EXPECT_EQ(together.regions[0].members.size(), 2u);
  ASSERT_EQ(apart.regions.size(), 2u);
  EXPECT_EQ(apart.regions[0].name, "region0");
  EXPECT_EQ(apart.regions[1].name, "region1");
}

TEST(ProvisionPlan, MemoryThatWouldJoinNodeZeroIsLeftAlone) {
  for (const bool has_dax : {false, true}) {
    const Platform platform =
        has_dax ? snapshot("no-srat-offline-6.12") : idle("no-srat-offline-6.12");
    const ProvisionPlan plan = plan_provision(platform, {});
    EXPECT_TRUE(plan.is_empty());
    ASSERT_EQ(plan.obstacles.size(), 1u);
    EXPECT_NE(plan.obstacles[0].find("node 0"), std::string::npos);
  }
}

TEST(ProvisionPlan, WindowWithoutRoomIsAnObstacle) {
  Platform platform = snapshot("no-region-6.12");
  for (CxlDecoder& decoder : platform.cxl.decoders) {
    if (decoder.name == "decoder0.0") decoder.size = 256u << 20;
  }
  const ProvisionPlan plan = plan_provision(platform, {});
  EXPECT_TRUE(plan.regions.empty());
  EXPECT_EQ(plan.obstacles.size(), 1u);
}

TEST(ProvisionPlan, OfflineBlocksAndDeviceFiles) {
  Platform platform = snapshot("single-6.12");
  platform.dax[0].driver = "device_dax";
  for (MemoryBlock& block : platform.blocks.blocks) block.is_online = block.index != 115;
  const ProvisionPlan plan = plan_provision(platform, {});
  ASSERT_EQ(plan.online.size(), 1u);
  EXPECT_TRUE(plan.online[0].must_bind);
  EXPECT_EQ(plan.online[0].blocks, (std::vector<std::uint64_t>{115}));
}

// A kernel in small: writes are remembered, a committed and bound region becomes a dax device with
// two blocks, and one write, counted from 1, is refused.
class SmallKernel final : public Sysfs {
 public:
  SmallKernel() {
    memory_.files["sys/bus/cxl/devices/decoder0.0/create_ram_region"] = "region0";
    memory_.files["sys/devices/system/memory/auto_online_blocks"] = "online";
    memory_.files["sys/devices/system/memory/block_size_bytes"] = "8000000";
  }

  Result<Done> write(const std::string& path, const std::string& value) override {
    if (++writes_ == write_refused) return Error{ENXIO};
    memory_.files[path] = value;
    if (path.ends_with("cxl_region/bind")) add_dax();
    if (path.ends_with("cxl_region/unbind")) remove_dax();
    return Done{};
  }
  bool wait() override { return ++waits_ < 3; }
  void expect() override { waits_ = 0; }
  FileTree& tree() override { return memory_; }

  [[nodiscard]] std::string file(const std::string& path) const {
    const auto found = memory_.files.find(path);
    return found == memory_.files.end() ? std::string() : found->second;
  }
  [[nodiscard]] bool has_dax() const { return !memory_.links.empty(); }

  int write_refused = 0;
  bool makes_dax = true;

 private:
  void add_dax() {
    if (!makes_dax) return;
    memory_.add_dax("platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0", "1",
                    "kmem");
    memory_.files["sys/bus/dax/devices/dax0.0/size"] = "0x10000000";
    memory_.files["sys/bus/dax/devices/dax0.0/mapping0/start"] = "0x390000000";
    for (const char* block : {"memory114", "memory115"}) {
      memory_.files[std::string("sys/devices/system/memory/") + block + "/state"] = "offline";
    }
  }
  void remove_dax() {
    memory_.links.clear();
    std::erase_if(memory_.files,
                  [](const auto& file) { return file.first.find("dax0.0") != std::string::npos; });
  }

  MemoryTree memory_;
  int writes_ = 0;
  int waits_ = 0;
};

ProvisionPlan one_device() { return plan_provision(snapshot("no-region-6.12"), {}); }

TEST(Provisioner, MakesARegionAndBringsItOnlineMovable) {
  SmallKernel kernel;
  const ProvisionOutcome outcome = Provisioner(kernel).apply(one_device());

  EXPECT_TRUE(outcome.done) << outcome.fault;
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/region0/commit"), "1");
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/region0/target0"), "decoder2.0");
  EXPECT_EQ(kernel.file("sys/devices/system/memory/memory115/state"), "online_movable");
  EXPECT_EQ(kernel.file("sys/devices/system/memory/auto_online_blocks"), "online");
  EXPECT_EQ(outcome.made.size(), 2u);
}

// Every write is refused once: the journal takes back what was done, in reverse, and the fault
// names the write and the kernel's answer.
TEST(Provisioner, EveryRefusedWriteIsRolledBack) {
  for (int refused = 1;; ++refused) {
    SmallKernel kernel;
    kernel.write_refused = refused;
    const ProvisionOutcome outcome = Provisioner(kernel).apply(one_device());
    // The last write only sets the policy back, and its failure takes nothing away.
    if (outcome.done) {
      EXPECT_GT(refused, 10);
      break;
    }
    SCOPED_TRACE(refused);
    EXPECT_NE(outcome.fault.find("errno"), std::string::npos);
    EXPECT_TRUE(outcome.stuck.empty());
    EXPECT_TRUE(outcome.made.empty());
    EXPECT_FALSE(kernel.has_dax());
    EXPECT_NE(kernel.file("sys/bus/cxl/devices/region0/commit"), "1");
    EXPECT_EQ(kernel.file("sys/devices/system/memory/auto_online_blocks"), "online");
    const std::string size = kernel.file("sys/bus/cxl/devices/decoder2.0/dpa_size");
    EXPECT_TRUE(size.empty() || size == "0") << size;
    if (refused > 2) {
      EXPECT_EQ(kernel.file("sys/bus/cxl/devices/decoder0.0/delete_region"), "region0");
    }
  }
}

TEST(Provisioner, RegionWithoutADaxDeviceNamesTheModule) {
  SmallKernel kernel;
  kernel.makes_dax = false;
  const ProvisionOutcome outcome = Provisioner(kernel).apply(one_device());
  EXPECT_FALSE(outcome.done);
  EXPECT_NE(outcome.fault.find("modprobe dax_cxl"), std::string::npos);
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/region0/commit"), "0");
}

TEST(Provisioner, UndoTakesEverythingAwayInOrder) {
  SmallKernel kernel;
  const ProvisionOutcome outcome = Provisioner(kernel).undo(snapshot("single-6.12"));
  EXPECT_TRUE(outcome.done) << outcome.fault;
  EXPECT_EQ(kernel.file("sys/devices/system/memory/memory117/state"), "offline");
  EXPECT_EQ(kernel.file("sys/bus/dax/drivers/kmem/unbind"), "dax0.0");
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/region0/commit"), "0");
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/decoder2.0/dpa_size"), "0");
  EXPECT_EQ(kernel.file("sys/bus/cxl/devices/decoder0.0/delete_region"), "region0");
}

// The third block is in use: the two before come back online, in the zone that they had.
TEST(Provisioner, UndoThatIsRefusedBringsBlocksBack) {
  SmallKernel kernel;
  kernel.write_refused = 3;
  const ProvisionOutcome outcome = Provisioner(kernel).undo(snapshot("single-6.12"));
  EXPECT_FALSE(outcome.done);
  EXPECT_NE(outcome.fault.find("memory116/state"), std::string::npos);
  EXPECT_EQ(kernel.file("sys/devices/system/memory/memory114/state"), "online_kernel");
  EXPECT_EQ(kernel.file("sys/devices/system/memory/memory115/state"), "online_kernel");
  EXPECT_EQ(kernel.file("sys/bus/dax/drivers/kmem/unbind"), "");
}

}  // namespace
}  // namespace cxltier
