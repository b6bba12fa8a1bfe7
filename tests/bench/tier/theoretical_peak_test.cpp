// SPDX-License-Identifier: Apache-2.0
//
// Ceilings from tables made by hand after DMTF DSP0134 and from sysfs texts.
#include "bench/tier/host/theoretical_peak.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <system_error>

#include "runtime/os/file_tree_linux.h"

namespace cxltier::bench {
namespace {

namespace fs = std::filesystem;

void put(std::string& fields, std::size_t at, unsigned value) {
  fields[at] = static_cast<char>(value & 0xff);
  fields[at + 1] = static_cast<char>(value >> 8 & 0xff);
}

struct Module {
  unsigned size = 0x7fff;
  unsigned width = 64;
  unsigned speed = 4800;
  unsigned configured = 4800;
};

// Version 3.3 of the structure, with one text.
std::string structure_of(const Module& module) {
  std::string fields(0x5c, '\0');
  fields[0] = 17;
  fields[1] = 0x5c;
  put(fields, 0x0a, module.width);
  put(fields, 0x0c, module.size);
  put(fields, 0x15, module.speed);
  put(fields, 0x20, module.configured);
  put(fields, 0x58, 8800);
  return fields + std::string("DIMM A\0\0", 8);
}

std::string table_of_modules(std::initializer_list<Module> modules) {
  std::string table("\x01\x04\x00\x00\0\0", 6);  // some other structure, without texts
  for (const Module& module : modules) table += structure_of(module);
  return table + std::string("\x7f\x04\x00\x00\0\0", 6);
}

TEST(TheoreticalPeak, ModulesAddUp) {
  // DDR5-4800: 38.4 GB/s a module.
  EXPECT_DOUBLE_EQ(gbps_of_modules(table_of_modules({{}, {}})), 76.8);
  EXPECT_DOUBLE_EQ(gbps_of_modules(table_of_modules({{}, {.size = 0}})), 38.4);
  EXPECT_DOUBLE_EQ(gbps_of_modules(table_of_modules({{.configured = 4400}})), 35.2);
  EXPECT_DOUBLE_EQ(gbps_of_modules(table_of_modules({{.configured = 0xffff}})), 70.4);
}

TEST(TheoreticalPeak, AModuleThatDoesNotSayMakesTheSumNoCeiling) {
  EXPECT_EQ(gbps_of_modules(table_of_modules({{}, {.speed = 0, .configured = 0}})), 0);
  EXPECT_EQ(gbps_of_modules(table_of_modules({{}, {.width = 0xffff}})), 0);
  EXPECT_EQ(gbps_of_modules({}), 0);
}

TEST(TheoreticalPeak, BrokenTablesAreRead) {
  const std::string table = table_of_modules({{}, {}});
  for (std::size_t length = 0; length < table.size(); ++length) {
    EXPECT_LE(gbps_of_modules({table.data(), length}), 76.81) << length;
  }
  std::string endless(64, '\x11');
  EXPECT_EQ(gbps_of_modules(endless), gbps_of_modules(endless));
}

TEST(TheoreticalPeak, Links) {
  EXPECT_DOUBLE_EQ(gbps_of_link("32.0 GT/s PCIe\n", "8\n"), 32);
  EXPECT_EQ(gbps_of_link("Unknown\n", "8\n"), 0);
  EXPECT_EQ(gbps_of_link("32.0 GT/s PCIe", "0"), 0);
  EXPECT_EQ(gbps_of_link("", ""), 0);
}

// A full-duplex link carries a mix faster than reads alone; a memory bus does not.
TEST(TheoreticalPeak, MixesOverALink) {
  const TheoreticalPeak link{32, true, ""};
  EXPECT_DOUBLE_EQ(ceiling_of(link, *find_mix("R")), 32);
  EXPECT_DOUBLE_EQ(ceiling_of(link, *find_mix("W-nt")), 32);
  EXPECT_DOUBLE_EQ(ceiling_of(link, *find_mix("1:1")), 64);
  EXPECT_DOUBLE_EQ(ceiling_of(link, *find_mix("2:1")), 48);
  EXPECT_DOUBLE_EQ(ceiling_of({300, false, ""}, *find_mix("2:1")), 300);
}

class CardsOfTest : public testing::Test {
 protected:
  CardsOfTest() {
    std::string pattern = (fs::temp_directory_path() / "cxltier-peak-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "sys/bus/cxl/devices");
  }
  ~CardsOfTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  CardsOfTest(const CardsOfTest&) = delete;
  CardsOfTest& operator=(const CardsOfTest&) = delete;

  void add_card(const std::string& name, const char* speed) const {
    const fs::path function = root_ / "sys/devices/pci0" / name;
    fs::create_directories(function / name);
    std::ofstream(function / "current_link_speed") << speed;
    std::ofstream(function / "current_link_width") << "8\n";
    fs::create_directory_symlink("../../../devices/pci0/" + name + "/" + name,
                                 root_ / "sys/bus/cxl/devices" / name);
  }
  [[nodiscard]] std::map<int, TheoreticalPeak> peaks() const {
    Machine machine;
    machine.node_count = 2;
    machine.nodes[0].id = NodeId{0};
    machine.nodes[0].kind = NodeKind::dram;
    machine.nodes[1].id = NodeId{2};
    machine.nodes[1].kind = NodeKind::cxl;
    FileTreeLinux tree(root_.c_str());
    return read_theoretical_peaks(tree, machine);
  }

  fs::path root_;
};

TEST_F(CardsOfTest, LinksOfAllCardsAreTheCeilingOfCxlNodes) {
  EXPECT_TRUE(peaks().empty());
  add_card("mem0", "32.0 GT/s PCIe\n");
  add_card("mem1", "16.0 GT/s PCIe\n");
  const std::map<int, TheoreticalPeak> found = peaks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(found.at(2).gbps, 48);
  EXPECT_EQ(found.at(2).source, "links of 2 CXL cards");
  add_card("mem2", "Unknown\n");
  EXPECT_TRUE(peaks().empty());  // a sum without one of them would be no ceiling
}

TEST_F(CardsOfTest, ModulesOfFirmwaresTableAreTheCeilingOfDram) {
  fs::create_directories(root_ / "sys/firmware/dmi/tables");
  std::ofstream(root_ / "sys/firmware/dmi/tables/DMI", std::ios::binary)
      << table_of_modules({{}, {}});
  ASSERT_EQ(peaks().size(), 1u);
  EXPECT_DOUBLE_EQ(peaks().at(0).gbps, 76.8);
}

}  // namespace
}  // namespace cxltier::bench
