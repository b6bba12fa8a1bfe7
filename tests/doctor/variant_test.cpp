// SPDX-License-Identifier: Apache-2.0
//
// Synthetic machines: no such snapshot could be had, so files of a guest's are edited to what the
// kernel shows on such a machine (Linux 6.12 sysfs; PCI Express 6.0, 7.5.3; CXL 3.1, 8.1.3).
//
// Unlike doctor_test.cpp, which plants faults into what was read, the readers are part of this.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/doctor/diagnosis.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/platform/stored_tree.h"

namespace cxltier {
namespace {

constexpr const char* device = "sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0";

// All that the readers read of a snapshot, as files that can be edited.
StoredTree stored_snapshot(const std::string& name) {
  const std::string root = CXLTIER_FIXTURES "/" + name;
  FileTreeLinux files(root.c_str());
  StoredTree stored;
  RecordingTree recording(files, stored);
  static_cast<void>(read_platform(recording, {true, {}}));
  return stored;
}

std::string& config_of(StoredTree& tree) { return tree.files[std::string(device) + "/config"]; }

std::size_t byte_at(const std::string& bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes.at(at));
}

// The offset of the PCI Express capability.
std::size_t express_of(const std::string& config) {
  std::size_t at = byte_at(config, 0x34);
  while (at != 0 && byte_at(config, at) != 0x10) at = byte_at(config, at + 1);
  return at;
}

// Moves everything of endpoint2 from below port1 to below the root; port1 and its decoders go.
void hang_below_root(std::map<std::string, std::string>& entries) {
  constexpr std::string_view old_place = "/port1/endpoint2";
  std::map<std::string, std::string> kept;
  for (const auto& [path, value] : entries) {
    std::string new_path = path;
    std::string new_value = value;
    if (const std::size_t at = path.find(old_place); at != std::string::npos) {
      new_path.replace(at, old_place.size(), "/endpoint2");
      // Links inside are one folder nearer to what they point at.
      if (value.starts_with("../")) new_value = value.substr(3);
    }
    if (const std::size_t at = value.find(old_place); at != std::string::npos)
      new_value.replace(at, old_place.size(), "/endpoint2");
    const bool is_gone = new_path.find("/port1") != std::string::npos ||
                         new_path.find("/decoder1.") != std::string::npos;
    if (!is_gone) kept[new_path] = new_value;
  }
  entries = std::move(kept);
}

// CXL 1.1: an integrated endpoint without a link, and the endpoint port hangs right below the root.
void make_restricted_host(StoredTree& tree) {
  std::string& config = config_of(tree);
  const std::size_t flags = express_of(config) + 2;
  config[flags] = static_cast<char>((byte_at(config, flags) & 0x0f) | 0x90);
  for (const char* name :
       {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"}) {
    tree.files.erase(std::string(device) + "/" + name);
  }
  hang_below_root(tree.files);
  hang_below_root(tree.links);
  std::erase_if(tree.folders, [](const std::string& folder) {
    return folder.find("/port1") != std::string::npos;
  });
}

// Sub-NUMA clustering: the device's CPUs are those of the first of a socket's nodes, and its memory
// is a node of its own that has nothing to do with that number.
void make_clustered(StoredTree& tree) {
  tree.files[std::string(device) + "/mem0/numa_node"] = "0\n";
  tree.files[std::string(device) + "/numa_node"] = "0\n";
}

// CXLCtl says Mem-, and so the driver let go.
void turn_memory_off(StoredTree& tree) {
  std::string& config = config_of(tree);
  for (std::size_t at = 0x100; at != 0;) {
    const std::size_t next = (byte_at(config, at + 2) | byte_at(config, at + 3) << 8) >> 4;
    const bool is_dvsec = byte_at(config, at) == 0x23;
    if (is_dvsec && byte_at(config, at + 4) == 0x98 && byte_at(config, at + 8) == 0)
      config[at + 0xc] = static_cast<char>(byte_at(config, at + 0xc) & ~4u);
    at = next;
  }
  tree.links.erase(std::string(device) + "/mem0/driver");
  tree.links.erase(std::string(device) + "/driver");
}

// Firmware's Soft Reserved range keeps the window, and the region could not be put above it.
void reserve_softly(StoredTree& tree) {
  tree.files["proc/iomem"] =
      "00100000-7ffdefff : System RAM\n390000000-48fffffff : CXL Window 0\n"
      "  390000000-3afffffff : Soft Reserved\n    390000000-3afffffff : dax0.0\n";
}

void slow_the_link_down(StoredTree& tree) {
  tree.files[std::string(device) + "/current_link_width"] = "4\n";
  tree.files[std::string(device) + "/current_link_speed"] = "16.0 GT/s PCIe\n";
}

void take_blocks_offline(StoredTree& tree) {
  for (const char* block : {"memory114", "memory115", "memory116", "memory117"})
    tree.files["sys/devices/system/memory/" + std::string(block) + "/state"] = "offline\n";
}

void put_into_one_tier(StoredTree& tree) {
  const std::string tiers = "sys/devices/virtual/memory_tiering/";
  tree.files[tiers + "memory_tier4/nodelist"] = "0-1\n";
  tree.files[tiers + "memory_tier22/nodelist"] = "\n";
}

using Ids = std::set<std::string>;

Ids failed(const DoctorReport& report) {
  Ids ids;
  for (const Finished& finished : report.checks) {
    if (finished.diagnosis.state == CheckState::fail) ids.insert(finished.check->id);
  }
  return ids;
}

struct Variant {
  const char* name;
  void (*edit)(StoredTree& tree);
  Ids failures;
};

class Variants : public testing::TestWithParam<Variant> {};

TEST_P(Variants, ReadsAndDiagnosesASyntheticMachine) {
  StoredTree tree = stored_snapshot("single-6.12");
  ASSERT_EQ(failed(diagnose(read_platform(tree, {true, {}}))), Ids{}) << "before the edit";

  GetParam().edit(tree);
  const Platform platform = read_platform(tree, {true, {}});

  EXPECT_EQ(failed(diagnose(platform)), GetParam().failures);
  ASSERT_TRUE(platform.reading);
  EXPECT_EQ(platform.reading->machine.nodes[1].kind, NodeKind::cxl);
  ASSERT_EQ(platform.cxl.memories.size(), 1u);
  EXPECT_EQ(platform.cxl.memories[0].serial, 1u);
}

INSTANTIATE_TEST_SUITE_P(Synthetic, Variants,
                         testing::Values(Variant{"RestrictedHost", make_restricted_host, {}},
                                         Variant{"SubNumaClustering", make_clustered, {}},
                                         Variant{"MemoryOff", turn_memory_off, {"device"}},
                                         Variant{"SoftReserved", reserve_softly, {"assembly"}},
                                         Variant{"DegradedLink", slow_the_link_down, {"link"}},
                                         Variant{"OfflineBlocks", take_blocks_offline, {"blocks"}},
                                         Variant{"SameTier", put_into_one_tier, {"kernel-tiers"}}),
                         [](const testing::TestParamInfo<Variant>& one) {
                           return std::string(one.param.name);
                         });

// Whose link there is none is not said to be slow, and its way is short.
TEST(RestrictedHost, HasNoLinkAndNoPort) {
  StoredTree tree = stored_snapshot("single-6.12");
  make_restricted_host(tree);
  const Platform platform = read_platform(tree, {true, {}});

  const PciFunction* function = platform.pci.find("0000:0d:00.0");
  ASSERT_NE(function, nullptr);
  EXPECT_TRUE(function->is_integrated());
  EXPECT_FALSE(platform.pci.link_of(*function));
  EXPECT_EQ(platform.cxl.path_of("mem0"), (std::vector<std::string>{"root0", "endpoint2"}));
}

// memN/numa_node is where the CPUs are; the node of the memory is what dax says.
TEST(SubNumaClustering, TheMemorysNodeIsNotTheDevices) {
  StoredTree tree = stored_snapshot("single-6.12");
  make_clustered(tree);
  const Platform platform = read_platform(tree, {true, {}});
  EXPECT_EQ(platform.cxl.memories[0].numa_node, 0);
  EXPECT_EQ(platform.dax[0].target_node, 1);
}

}  // namespace
}  // namespace cxltier
