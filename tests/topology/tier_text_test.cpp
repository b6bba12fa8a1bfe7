// SPDX-License-Identifier: Apache-2.0
//
// Tiers as a user writes them, and the word that each error names.
#include "runtime/topology/tier_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cxltier {
namespace {

// Nodes 0, 1, 2, 8 with memory and node 4 without.
Machine machine_of_five() {
  Machine machine;
  for (const int id : {0, 1, 2, 4, 8}) {
    Node& node = machine.nodes[machine.node_count++];
    node.id = static_cast<NodeId>(id);
    node.size = {id == 4 ? 0u : 1024u};
  }
  return machine;
}

std::vector<int> tiers_of(std::string_view text) {
  const ParsedTiers parsed = parse_tiers(text, machine_of_five());
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.word;
  std::vector<int> tiers;
  for (std::size_t i = 0; i < machine_of_five().node_count; ++i) {
    const TierIndex tier = parsed.tiers.tier_of[i];
    tiers.push_back(tier == tier_none ? -1 : static_cast<int>(index_of(tier)));
  }
  return tiers;
}

TEST(ParseTiers, ReadsBothSeparatorsAndRanges) {
  EXPECT_EQ(tiers_of("0,1;2"), (std::vector{0, 0, 1, -1, -1}));
  EXPECT_EQ(tiers_of("0-1/2"), (std::vector{0, 0, 1, -1, -1}));
  EXPECT_EQ(tiers_of("8/2;1"), (std::vector{-1, 2, 1, -1, 0}));
  EXPECT_EQ(tiers_of(" 0 , 1 ; 2 "), (std::vector{0, 0, 1, -1, -1}));
}

struct Wrong {
  const char* text;
  TierFault fault;
  const char* word;
};

TEST(ParseTiers, NamesTheWordAtFault) {
  const Wrong wrongs[] = {
      {"0,1;3", TierFault::unknown_node, "3"},
      {"0;7-9", TierFault::unknown_node, "7-9"},
      {"0;0-4294967295", TierFault::unknown_node, "0-4294967295"},
      {"0;4", TierFault::node_no_memory, "4"},
      {"0,1;1", TierFault::node_twice, "1"},
      {"0,0", TierFault::node_twice, "0"},
      {"0;dram", TierFault::not_a_list, "dram"},
      {"0,;1", TierFault::not_a_list, "0,"},
      {"2-1", TierFault::not_a_list, "2-1"},
      {"-1", TierFault::not_a_list, "-1"},
      {"0 1", TierFault::not_a_list, "0 1"},
      {"99999999999999999999", TierFault::not_a_list, "99999999999999999999"},
      {"0;;1", TierFault::empty_tier, "0;;1"},
      {"0;", TierFault::empty_tier, "0;"},
      {"/0", TierFault::empty_tier, "/0"},
      {"", TierFault::empty_tier, ""},
  };
  for (const Wrong& wrong : wrongs) {
    const ParsedTiers parsed = parse_tiers(wrong.text, machine_of_five());

    EXPECT_EQ(parsed.fault, wrong.fault) << wrong.text;
    EXPECT_EQ(parsed.word, wrong.word) << wrong.text;
    EXPECT_EQ(parsed.tiers.tier_count, 0) << wrong.text;
    EXPECT_GT(std::string(text_of(parsed.fault)).size(), 1u);
  }
}

TEST(ParseTiers, MoreThanEightTiersNameTheNinth) {
  Machine machine;
  for (int id = 0; id < 9; ++id) {
    machine.nodes[machine.node_count++] = {.id = static_cast<NodeId>(id), .size = {1}};
  }

  const ParsedTiers parsed = parse_tiers("0;1;2;3;4;5;6;7;8", machine);

  EXPECT_EQ(parsed.fault, TierFault::too_many_tiers);
  EXPECT_EQ(parsed.word, "8");
}

TEST(ParseTiers, AnyTextIsEitherValidOrNamesAWordInIt) {
  constexpr unsigned seed = 4711;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string letters = "00112248,,;;/- x";
  const Machine machine = machine_of_five();
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 8, ' ');
    for (char& c : text) c = letters[random() % letters.size()];

    const ParsedTiers parsed = parse_tiers(text, machine);

    EXPECT_TRUE(is_valid(parsed.tiers, machine)) << text;
    EXPECT_EQ(parsed.ok(), parsed.tiers.tier_count > 0) << text;
    EXPECT_NE(text.find(parsed.word), std::string::npos) << text;
    accepted += parsed.ok() ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace cxltier
