// SPDX-License-Identifier: Apache-2.0
//
// Archives and imported texts: what goes in comes out, and what is hostile stays outside.
#include <gtest/gtest.h>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/platform/imported_text.h"
#include "runtime/topology/platform/platform.h"
#include "runtime/topology/platform/tar_file.h"

namespace cxltier {
namespace {

std::string read(FileTree& tree, const std::string& path) {
  Files files(tree);
  return files.value(path).value_or("(none)");
}

TEST(StoredTree, FollowsLinksButNotInCirclesOrOut) {
  StoredTree tree;
  tree.files["sys/devices/pci/mem0/serial"] = "0x1\n";
  tree.links["sys/bus/mem0"] = "../devices/pci/mem0";
  tree.links["sys/absolute"] = "/sys/bus";
  tree.links["sys/circle"] = "circle";
  tree.links["sys/outside"] = "../../../etc";

  EXPECT_EQ(read(tree, "sys/bus/mem0/serial"), "0x1");
  EXPECT_EQ(read(tree, "sys/absolute/mem0/serial"), "0x1");
  EXPECT_EQ(read(tree, "sys/circle/x"), "(none)");
  EXPECT_EQ(read(tree, "sys/outside/passwd"), "(none)");
  Files files(tree);
  EXPECT_EQ(files.link("sys/bus/mem0"), "../devices/pci/mem0");
  EXPECT_EQ(files.names("sys/bus/mem0"), (std::vector<std::string>{"serial"}));
}

// An archive of a snapshot gives what the snapshot gives, long names and all.
TEST(Archive, GivesTheSameReadingAsTheMachine) {
  for (const char* name : {"switch-interleave2-6.12", "genport-2socket-7.3", "cpuless-hmat-6.12"}) {
    SCOPED_TRACE(name);
    const std::string root = std::string(CXLTIER_FIXTURES "/") + name;
    FileTreeLinux machine(root.c_str());
    StoredTree stored;
    RecordingTree recorder(machine, stored);
    const Platform direct = read_platform(recorder, {true, {}, false});
    std::optional<StoredTree> back = read_tar(write_tar(stored, "cxltier-machine"));
    ASSERT_TRUE(back.has_value());
    const Platform archived = read_platform(*back, {true, {}, false});

    EXPECT_EQ(back->files, stored.files);
    EXPECT_EQ(back->links, stored.links);
    ASSERT_EQ(archived.reading->machine.node_count, direct.reading->machine.node_count);
    EXPECT_EQ(archived.cxl.path_of("mem0"), direct.cxl.path_of("mem0"));
    EXPECT_EQ(archived.cxl.regions.size(), direct.cxl.regions.size());
    EXPECT_EQ(archived.pci.functions.size(), direct.pci.functions.size());
    EXPECT_EQ(archived.dax.size(), direct.dax.size());
    EXPECT_EQ(archived.blocks.blocks.size(), direct.blocks.blocks.size());
    EXPECT_EQ(archived.acpi.names, direct.acpi.names);
    EXPECT_EQ(archived.tiering.weights, direct.tiering.weights);
  }
}

TEST(Archive, DamageIsSeenAndHostileNamesStayOut) {
  StoredTree tree;
  tree.files["sys/x"] = "1";
  tree.files["sys/../../etc/shadow"] = "2";
  const std::string bytes = write_tar(tree, "top");
  const std::optional<StoredTree> back = read_tar(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->files.size(), 1u);
  std::string damaged = bytes;
  damaged[5] ^= 1;
  EXPECT_FALSE(read_tar(damaged).has_value());
  EXPECT_FALSE(read_tar(bytes.substr(0, 600)).has_value());
  EXPECT_FALSE(read_tar("").has_value());
}

TEST(Import, AcpidumpGivesTables) {
  StoredTree tree;
  EXPECT_EQ(
      import_text("SLIT @ 0x0000000000000000\n"
                  "    0000: 53 4C 49 54 2D 00 00 00 01 00 54 45 53 54 20 20  SLIT-.....TEST  \n"
                  "    0010: 53 59 4E 54 48 45 54 49 00 00 00 00 00 00 00 00  SYNTHETI........\n"
                  "    0020: 00 00 00 00 01 00 00 00 00 00 00 00 0A           .............\n",
                  tree),
      "acpidump");
  const std::string& bytes = tree.files["sys/firmware/acpi/tables/SLIT"];
  EXPECT_EQ(bytes.size(), 45u);
  const Platform platform = read_platform(tree, {true, {}, false});
  ASSERT_TRUE(platform.acpi.slit.has_value());
  EXPECT_EQ(platform.acpi.slit->localities, 1u);
}

TEST(Import, LspciGivesConfigurationSpace) {
  StoredTree tree;
  EXPECT_EQ(import_text("6b:00.0 Unassigned class [ff00]: Intel Corporation Device 0d93\n"
                        "        Control: I/O- Mem-\n"
                        "00: 86 80 93 0d 00 00 10 00 00 00 00 ff 00 00 00 00\n"
                        "10: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n",
                        tree),
            "lspci");
  const Platform platform = read_platform(tree, {true, {}, false});
  ASSERT_EQ(platform.pci.functions.size(), 1u);
  EXPECT_EQ(platform.pci.functions[0].address, "0000:6b:00.0");
  EXPECT_EQ(platform.pci.functions[0].vendor, 0x8086);
  EXPECT_EQ(platform.pci.functions[0].class_code, 0xff0000u);
}

TEST(Import, NumactlGivesNodes) {
  StoredTree tree;
  EXPECT_EQ(import_text("available: 3 nodes (0-2)\n"
                        "node 0 cpus: 0 1 2 3\nnode 0 size: 64167 MB\nnode 0 free: 62245 MB\n"
                        "node 1 cpus: 4 5\nnode 1 size: 64472 MB\n"
                        "node 2 cpus:\nnode 2 size: 65536 MB\n"
                        "node 3..7: abridged\n"
                        "node distances:\nnode   0   1   2\n  0:  10  21  14\n  1:  21  10  24\n"
                        "  2:  14  24  10\n",
                        tree),
            "numactl -H");
  const Platform platform = read_platform(tree, {true, {}, false});
  ASSERT_TRUE(platform.reading.has_value());
  const Machine& machine = platform.reading->machine;
  ASSERT_EQ(machine.node_count, 3u);
  EXPECT_EQ(machine.nodes[0].cpu_count, 4u);
  EXPECT_EQ(machine.nodes[2].cpu_count, 0u);
  EXPECT_EQ(machine.nodes[2].size.count, std::uint64_t{65536} << 20);
  EXPECT_EQ(machine.distance[0][2], 14);
  EXPECT_EQ(machine.distance[1][2], 24);
}

TEST(Import, KnowsOtherTextsByWhatTheyHold) {
  StoredTree tree;
  EXPECT_EQ(import_text("[{\"memdev\": \"mem0\"}]", tree), "cxl list");
  EXPECT_EQ(import_text("[{\"chardev\": \"dax0.0\"}]", tree), "daxctl list");
  EXPECT_EQ(import_text("00000000-00000fff : Reserved\n", tree), "/proc/iomem");
  EXPECT_EQ(import_text("[    0.042333] No NUMA configuration found\n", tree), "kernel log");
  EXPECT_EQ(import_text("a letter to the editor", tree), "");
  EXPECT_EQ(import_text("", tree), "");
}

}  // namespace
}  // namespace cxltier
