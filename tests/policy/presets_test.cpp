// SPDX-License-Identifier: Apache-2.0
//
// Names are what users type: each policy has one, and no other word is taken for one.
#include "policy/presets.h"

#include <gtest/gtest.h>

namespace cxltier {
namespace {

TEST(Presets, NamesAreThoseOfTheDocumentation) {
  EXPECT_EQ(name_of(PolicyKind::first_touch), "first-touch");
  EXPECT_EQ(name_of(PolicyKind::hot_cold), "hot-cold");
}

TEST(Presets, EachNameParsesToItsPolicy) {
  ASSERT_FALSE(all_policies().empty());
  for (const PolicyKind kind : all_policies()) EXPECT_EQ(parse_policy(name_of(kind)), kind);
}

TEST(Presets, NothingElseParses) {
  for (const char* word : {"", "hot", "hot-cold ", "Hot-Cold", "hot_cold", "first-touchx"}) {
    EXPECT_EQ(parse_policy(word), std::nullopt) << word;
  }
}

TEST(Presets, AreValidAndOfTheirKind) {
  for (const PolicyKind kind : all_policies()) {
    EXPECT_TRUE(is_valid(preset_of(kind)));
    EXPECT_EQ(preset_of(kind).kind, kind);
  }
}

TEST(Presets, MoreDoublingsThanALeafCountsAreInvalid) {
  Parameters parameters = preset_of(PolicyKind::hot_cold);
  parameters.reversals_max = 16;
  EXPECT_FALSE(is_valid(parameters));
}

}  // namespace
}  // namespace cxltier
