// SPDX-License-Identifier: Apache-2.0
//
// Ratios are understood in both forms, and what is not one is named.
#include "runtime/settings/tier_ratio.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace cxltier {
namespace {

TEST(TierRatio, ReadsWeightsFastestFirst) {
  TierRatio ratio;
  ASSERT_TRUE(parse_ratio("3:1", ratio).ok());
  EXPECT_EQ(ratio.weights[0], 3u);
  EXPECT_EQ(ratio.weights[1], 1u);
  EXPECT_EQ(ratio.slowest, 0u);
  ASSERT_TRUE(parse_ratio("0:0:5", ratio).ok());
  EXPECT_EQ(ratio.weights[2], 5u);
}

TEST(TierRatio, ReadsWhatMemkindReads) {
  TierRatio ratio;
  ASSERT_TRUE(
      parse_memkind_tiers("KIND:DRAM,RATIO:1;KIND:KMEM_DAX,RATIO:4;POLICY:STATIC_RATIO", ratio)
          .ok());
  EXPECT_EQ(ratio.weights[0], 1u);
  EXPECT_EQ(ratio.weights[1], 0u);
  EXPECT_EQ(ratio.slowest, 4u);
  ASSERT_TRUE(parse_memkind_tiers("POLICY:STATIC_RATIO;KIND:DRAM,RATIO:1", ratio).ok());
  EXPECT_EQ(ratio.slowest, 0u);
}

TEST(TierRatio, NamesWhatIsWrongAndChangesNothing) {
  struct Wrong {
    const char* text;
    const char* word;
  };
  TierRatio ratio;
  ratio.slowest = 7;
  const TierRatio before = ratio;
  for (const Wrong& wrong :
       {Wrong{"", ""}, Wrong{"3:", ""}, Wrong{":1", ""}, Wrong{"a:1", "a"}, Wrong{"1:-2", "-2"},
        Wrong{"0:0", "0:0"}, Wrong{"1:1:1:1:1:1:1:1:9", "9"}, Wrong{"1000001", "1000001"},
        Wrong{"1 :2", "1 "}, Wrong{"99999999999999999999", "99999999999999999999"}}) {
    const SettingsError error = parse_ratio(wrong.text, ratio);
    EXPECT_FALSE(error.ok()) << wrong.text;
    EXPECT_EQ(std::string(error.word), wrong.word);
    EXPECT_EQ(ratio, before);
  }
  for (const Wrong& wrong :
       {Wrong{"KIND:DRAM,RATIO:1", "KIND:DRAM,RATIO:1"}, Wrong{"", ""},
        Wrong{"KIND:FS_DAX,PATH:/tmp,RATIO:1;POLICY:STATIC_RATIO", "KIND:FS_DAX"},
        Wrong{"KIND:DRAM;POLICY:STATIC_RATIO", ""},
        Wrong{"KIND:DRAM,RATIO:x;POLICY:STATIC_RATIO", "x"},
        Wrong{"KIND:DRAM,RATIO:1;KIND:DRAM,RATIO:2;POLICY:STATIC_RATIO", "KIND:DRAM"},
        Wrong{"KIND:DRAM,RATIO:1;POLICY:DYNAMIC_THRESHOLD", "POLICY:DYNAMIC_THRESHOLD"}}) {
    const SettingsError error = parse_memkind_tiers(wrong.text, ratio);
    EXPECT_FALSE(error.ok()) << wrong.text;
    EXPECT_EQ(std::string(error.word), wrong.word);
    EXPECT_EQ(ratio, before);
  }
}

TEST(TierRatio, TakesAnyBytes) {
  std::mt19937 random(3);
  constexpr std::string_view letters = "0123456789:;,KINDRATOPLCYMEX_ \xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t length = random() % 40; length > 0; --length) {
      text += letters[random() % letters.size()];
    }
    TierRatio ratio;
    const bool plain = parse_ratio(text, ratio).ok();
    const bool memkind = parse_memkind_tiers(text, ratio).ok();
    EXPECT_EQ(plain || memkind, ratio != TierRatio{}) << text;
  }
}

}  // namespace
}  // namespace cxltier
