// SPDX-License-Identifier: Apache-2.0
//
// The parsers of sysfs text: what kernels print, and what nobody should.
#include "runtime/topology/sysfs_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace cxltier {
namespace {

using namespace std::string_view_literals;

std::vector<int> nodes_of(std::string_view text) {
  NodeSet nodes;
  EXPECT_TRUE(parse_node_list(text, nodes)) << text;
  std::vector<int> ids;
  for (int id = 0; id < 1024; ++id) {
    if (nodes.contains(static_cast<NodeId>(id))) ids.push_back(id);
  }
  return ids;
}

bool is_node_list(std::string_view text) {
  NodeSet nodes;
  return parse_node_list(text, nodes);
}

TEST(NodeList, ReadsWhatKernelsPrint) {
  EXPECT_EQ(nodes_of("0\n"), std::vector{0});
  EXPECT_EQ(nodes_of("0-2,33-34,45,72-73\n"), (std::vector{0, 1, 2, 33, 34, 45, 72, 73}));
  EXPECT_EQ(nodes_of("0-1\n\0\0"sv), (std::vector{0, 1}));
  EXPECT_EQ(nodes_of("\n"), std::vector<int>{});
  EXPECT_EQ(nodes_of(""), std::vector<int>{});
  EXPECT_EQ(nodes_of("1023"), std::vector{1023});
}

TEST(NodeList, LeavesOutIdsThatNoSetHolds) {
  EXPECT_EQ(nodes_of("5,1024,4294967295"), std::vector{5});
  EXPECT_EQ(nodes_of("1023-4294967295"), std::vector{1023});
}

TEST(NodeList, RefusesWhatIsNotAList) {
  for (const char* text : {"2..7:", "-1", "3-1", "a", "1,,2", "1-", "1 2", "4294967296", "0x1"}) {
    EXPECT_FALSE(is_node_list(text)) << text;
  }
}

TEST(CpuMask, ReadsWordsHighestFirst) {
  CpuSet cpus;
  ASSERT_TRUE(parse_cpu_mask("fc00,00000000\n", cpus));  // node 73 of a 48-CPU Opteron
  CpuSet expected;
  for (std::size_t cpu = 42; cpu <= 47; ++cpu) expected.set(cpu);
  EXPECT_EQ(cpus, expected);
}

TEST(CpuMask, RefusesWhatIsNotAMask) {
  for (const char* text : {"", "\n", "xyz", "1,", ",1", "123456789", "-1", "0x3"}) {
    CpuSet cpus;
    EXPECT_FALSE(parse_cpu_mask(text, cpus)) << text;
  }
}

TEST(CpuMask, LeavesOutCpusThatNoSetHolds) {
  std::string mask = "ffffffff";
  for (int word = 0; word < 256; ++word) mask += ",00000000";
  CpuSet cpus;
  EXPECT_TRUE(parse_cpu_mask(mask, cpus));
  EXPECT_TRUE(cpus.none());
}

TEST(Number, ReadsDecimalAndHexadecimal) {
  EXPECT_EQ(parse_number("17210\n"), 17210u);
  EXPECT_EQ(parse_number("0x390000000\n"), 0x390000000u);
  EXPECT_EQ(parse_number("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const char* text : {"", "-1", "18446744073709551616", "1 2", "12ns", "0x", "0xg"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Node, RefusesMinusOneAndImpossibleIds) {
  EXPECT_EQ(parse_node("1023\n"), NodeId{1023});
  EXPECT_EQ(parse_node("-1\n"), std::nullopt);
  EXPECT_EQ(parse_node("1024\n"), std::nullopt);
}

TEST(Meminfo, ReadsANodesMeminfo) {
  EXPECT_EQ(
      parse_meminfo("\nNode 33 MemTotal:       16777216 kB\nNode 33 MemFree: 1 kB\n", "MemTotal:"),
      Bytes{16777216ull * 1024});
  EXPECT_EQ(parse_meminfo("Node 0 MemTotal: 1048576 kB", "MemTotal:"), Bytes{1048576ull * 1024});
  EXPECT_EQ(parse_meminfo("Node 2 MemTotal:              0 kB\n", "MemTotal:"), Bytes{0});
}

TEST(Meminfo, TellsFreeMemoryByItsKey) {
  EXPECT_EQ(parse_meminfo("Node 2 MemTotal: 8 kB\nNode 2 MemFree: 3 kB\n", "MemFree:"),
            Bytes{3 * 1024});
}

TEST(Meminfo, RefusesOtherUnitsAndSizesThatOverflow) {
  for (const char* text : {"", "MemFree: 1 kB", "MemTotal: kB", "MemTotal: 12", "MemTotal: 12 MB",
                           "MemTotal: 18446744073709551615 kB", "MemTotal: 1 2 kB"}) {
    EXPECT_EQ(parse_meminfo(text, "MemTotal:"), std::nullopt) << text;
  }
}

std::vector<int> distances_of(std::string_view text) {
  std::array<std::uint8_t, 4> columns{};
  const std::size_t count = parse_distances(text, columns);
  return {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(Distances, ReadsARow) {
  EXPECT_EQ(distances_of("10 21 255\n"), (std::vector{10, 21, 255}));
  EXPECT_EQ(distances_of("10 9 0"), (std::vector{10, 0, 0}));
}

TEST(Distances, RefusesWhatIsNotARow) {
  for (const char* text : {"", "10 256", "10 20 30 40 50", "10,20", "ten", "10 -1"}) {
    EXPECT_EQ(distances_of(text), std::vector<int>{}) << text;
  }
}

TEST(Field, FindsALineByItsWholeKey) {
  constexpr std::string_view status = "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\nEmpty:\n";
  EXPECT_EQ(field_of(status, "Cpus_allowed"), "ff");
  EXPECT_EQ(field_of(status, "Cpus_allowed_list"), "0-7");
  EXPECT_EQ(field_of(status, "Empty"), "");
  EXPECT_EQ(field_of(status, "allowed"), "");
}

TEST(NumberAfter, ReadsNumberedNames) {
  EXPECT_EQ(number_after("node", "node12"), 12u);
  EXPECT_EQ(number_after("region", "dax_region1"), std::nullopt);
  EXPECT_EQ(number_after("node", "node"), std::nullopt);
  EXPECT_EQ(number_after("mem", "mem0x"), std::nullopt);
  EXPECT_EQ(number_after("mem", "memory"), std::nullopt);
}

TEST(Components, SplitAPath) {
  std::string_view path = "../..//devices/x/";
  EXPECT_EQ(next_component(path), "..");
  EXPECT_EQ(next_component(path), "..");
  EXPECT_EQ(next_component(path), "devices");
  EXPECT_EQ(next_component(path), "x");
  EXPECT_EQ(next_component(path), "");
  EXPECT_EQ(last_component("../../drivers/kmem"), "kmem");
  EXPECT_EQ(last_component("kmem"), "kmem");
}

// A text is copied into a block of its own size, so that AddressSanitizer sees a read beyond it.
void parse_all(const std::string& text) {
  const std::vector<char> block(text.begin(), text.end());
  const std::string_view view(block.data(), block.size());
  NodeSet nodes;
  CpuSet cpus;
  std::array<std::uint8_t, 16> columns{};
  static_cast<void>(parse_node_list(view, nodes));
  static_cast<void>(parse_cpu_list(view, cpus));
  static_cast<void>(parse_cpu_mask(view, cpus));
  const std::optional<NodeId> node = parse_node(view);
  const std::optional<std::uint64_t> number = parse_number(view);
  const std::string_view field = field_of(view, "1");
  std::string_view path = view;
  std::size_t components = 0;
  while (!path.empty() && components <= view.size()) {
    static_cast<void>(next_component(path));
    ++components;
  }

  EXPECT_LE(components, view.size());
  EXPECT_LE(parse_distances(view, columns), columns.size());
  EXPECT_TRUE(!node || index_of(*node) < node_ids_max);
  EXPECT_TRUE(!node || (number && *number == index_of(*node)));
  EXPECT_TRUE(field.empty() || (field.data() >= view.data() &&
                                field.data() + field.size() <= view.data() + view.size()));
  EXPECT_LE(last_component(view).size(), view.size());
  static_cast<void>(parse_meminfo(view, "MemTotal:"));
}

TEST(AnyText, IsParsedWithoutHarm) {
  constexpr unsigned seed = 20261130;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string letters("0123456789abcdefx,,--  \n\t\0:/kBMemTotal:\xff", 40);
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    parse_all(text);
  }
}

// The other direction: what a kernel would print of a set is read back as that set.
TEST(NodeList, ReadsBackAnySet) {
  constexpr unsigned seed = 99;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::vector<int> expected;
    for (int id = static_cast<int>(random() % 10); id < 1024;
         id += 2 + static_cast<int>(random() % 90)) {
      const int last = std::min(1023, id + static_cast<int>(random() % 5));
      text += (text.empty() ? "" : ",") + std::to_string(id);
      if (last > id) text += "-" + std::to_string(last);
      for (; id <= last; ++id) expected.push_back(id);
    }
    EXPECT_EQ(nodes_of(text), expected) << text;
  }
}

}  // namespace
}  // namespace cxltier
