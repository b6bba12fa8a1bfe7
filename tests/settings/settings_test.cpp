// SPDX-License-Identifier: Apache-2.0
//
// The text forms of the settings: tables of words that must be understood, words that must be
// refused and named, and seeded noise that must never change a setting by accident.
#include "runtime/settings/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "runtime/settings/fixed_text.h"

namespace cxltier {
namespace {

bool same(const Settings& a, const Settings& b) {
  return a.policy == b.policy && a.limit_dram == b.limit_dram && a.limit_cxl == b.limit_cxl &&
         a.limit_tier == b.limit_tier && a.tiers == b.tiers && a.start_heap == b.start_heap &&
         a.profile == b.profile && a.log == b.log;
}

TEST(ParseSize, UnderstandsPlainAndBinarySizes) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } cases[] = {
      {"0", 0},
      {"1", 1},
      {"4096", 4096},
      {"0010", 10},
      {"1K", 1024},
      {"1k", 1024},
      {"64M", 67'108'864},
      {"64MiB", 67'108'864},
      {"1G", 1'073'741'824},
      {"1GiB", 1'073'741'824},
      {"2T", 2'199'023'255'552},
      {"2TiB", 2'199'023'255'552},
      {"18446744073709551615", 18'446'744'073'709'551'615u},
      {"16777215T", 18'446'742'974'197'923'840u},  // (2^24 - 1) * 2^40, the largest that fits
  };
  for (const auto& c : cases) {
    const auto size = parse_size(c.text);
    ASSERT_TRUE(size.has_value()) << c.text;
    EXPECT_EQ(size->count, c.bytes) << c.text;
  }
}

TEST(ParseSize, RefusesEverythingElse) {
  const char* const cases[] = {"",
                               "M",
                               "-1",
                               "+1",
                               " 1",
                               "1 ",
                               "1.5G",
                               "1MB",
                               "1B",
                               "1X",
                               "1KiBiB",
                               "1Mi",
                               "0x10",
                               "1e3",
                               "1,2",
                               "64M ",
                               "1P",
                               "sixty",
                               "1KB",
                               "18446744073709551616",
                               "16777216T",
                               "99999999999999999999999999",
                               "17179869184G"};
  for (const char* text : cases) EXPECT_FALSE(parse_size(text).has_value()) << text;
}

TEST(SetPolicy, KnowsItsWordsAndNamesWhatItDoesNotKnow) {
  Settings settings;
  EXPECT_TRUE(set_policy(settings, "first-touch").ok());
  EXPECT_EQ(settings.policy, PolicyKind::first_touch);
  EXPECT_TRUE(set_policy(settings, "hot-cold").ok());
  EXPECT_EQ(settings.policy, PolicyKind::hot_cold);

  const SettingsError error = set_policy(settings, "turbo");

  EXPECT_EQ(error.word, "turbo");
  EXPECT_STREQ(error.problem, "unknown policy");
  EXPECT_EQ(settings.policy, PolicyKind::hot_cold);
}

// The known words are written in the message by hand; this keeps them true.
TEST(SetPolicy, EveryNamedPolicyIsUnderstood) {
  Settings settings;
  const std::string known = set_policy(settings, "").expected;
  const std::string first_touch(name_of(PolicyKind::first_touch));
  const std::string hot_cold(name_of(PolicyKind::hot_cold));
  EXPECT_EQ(known, "known: " + first_touch + ", " + hot_cold + ", balance, capacity");
}

TEST(SetLimit, AddsUpOverCallsAndALaterOneReplaces) {
  Settings settings;
  ASSERT_TRUE(set_limit(settings, "dram=64M,cxl=1G").ok());
  ASSERT_TRUE(set_limit(settings, "tier0=4096,tier7=0").ok());
  ASSERT_TRUE(set_limit(settings, "dram=32M").ok());

  EXPECT_EQ(settings.limit_dram, Bytes{33'554'432});
  EXPECT_EQ(settings.limit_cxl, Bytes{1'073'741'824});
  EXPECT_EQ(settings.limit_tier[0], Bytes{4096});
  EXPECT_EQ(settings.limit_tier[7], Bytes{0});
  EXPECT_FALSE(settings.limit_tier[3].has_value());
}

TEST(SetLimit, RefusesAndNamesTheWord) {
  const struct {
    const char* text;
    const char* word;
  } cases[] = {
      {"", ""},
      {"dram", "dram"},
      {"dram=", ""},
      {"=1M", ""},
      {"ddr=1M", "ddr"},
      {"DRAM=1M", "DRAM"},
      {"tier=1M", "tier"},
      {"tier8=1M", "tier8"},
      {"tier10=1M", "tier10"},
      {"tier-=1M", "tier-"},
      {"dram=1Q", "1Q"},
      {"dram=1M,", ""},
      {",dram=1M", ""},
      {"dram=1M,,cxl=1M", ""},
      {"dram=1M,hbm=2M", "hbm"},
      {"dram=1M cxl=1M", "1M cxl=1M"},
  };
  for (const auto& c : cases) {
    Settings settings;
    const SettingsError error = set_limit(settings, c.text);
    EXPECT_FALSE(error.ok()) << c.text;
    EXPECT_EQ(error.word, c.word) << c.text;
    EXPECT_TRUE(same(settings, Settings{})) << c.text << " changed something";
  }
}

TEST(SetTiers, ChecksTheForm) {
  for (const char* text : {"0", "0;1", "0,1;2", "0-1/2", "0,2-4;1", "1023;0", "0;1;2;3;4;5;6;7"}) {
    Settings settings;
    EXPECT_TRUE(set_tiers(settings, text).ok()) << text;
    EXPECT_STREQ(settings.tiers.data(), text);
  }
  for (const char* text : {"",
                           ";",
                           ",",
                           "0,",
                           "0;",
                           ";0",
                           "0,,1",
                           "0;;1",
                           "a",
                           "1-0",
                           "0-",
                           "-",
                           "0-1;1",
                           "0-1024",
                           "0--1",
                           "1024",
                           "-1",
                           "0;0",
                           "0,0",
                           "0 ;1",
                           "0;1;2;3;4;5;6;7;8",
                           "99999999999999999999"}) {
    Settings settings;
    EXPECT_FALSE(set_tiers(settings, text).ok()) << text;
    EXPECT_TRUE(same(settings, Settings{})) << text << " changed something";
  }
}

TEST(SetTiers, RefusesAListThatDoesNotFit) {
  Settings settings;
  std::string text = "100";
  for (int node = 101; text.size() < settings.tiers.size(); ++node) {
    text += "," + std::to_string(node);
  }
  EXPECT_FALSE(set_tiers(settings, text).ok());
  EXPECT_TRUE(same(settings, Settings{}));
}

TEST(SetLog, KnowsItsWords) {
  for (const LogLevel level : {LogLevel::off, LogLevel::errors, LogLevel::all}) {
    Settings settings;
    EXPECT_TRUE(set_log(settings, name_of(level)).ok());
    EXPECT_EQ(settings.log, level);
  }
  Settings settings;
  EXPECT_EQ(set_log(settings, "loud").word, "loud");
  EXPECT_EQ(settings.log, LogLevel::errors);
}

TEST(FormatLimits, IsReadBackAsTheSameLimits) {
  Settings settings;
  std::array<char, limits_text_max> text{};
  EXPECT_EQ(format_limits(settings, text), 0u);

  std::string every = "dram=18446744073709551615,cxl=18446744073709551615";
  for (int tier = 0; tier < 8; ++tier) {
    every += ",tier" + std::to_string(tier) + "=18446744073709551615";
  }
  ASSERT_TRUE(set_limit(settings, every).ok());

  const std::size_t size = format_limits(settings, text);

  EXPECT_EQ(std::string(text.data(), size), every);
}

TEST(SetProfile, TakesAnAbsolutePathOrNone) {
  Settings settings;
  EXPECT_TRUE(set_profile(settings, "/var/lib/x.profile").ok());
  EXPECT_STREQ(settings.profile.data(), "/var/lib/x.profile");
  EXPECT_TRUE(set_profile(settings, "none").ok());
  EXPECT_STREQ(settings.profile.data(), "none");
  EXPECT_TRUE(set_profile(settings, "/" + std::string(254, 'x')).ok());
  const Settings before = settings;
  for (const std::string& wrong : {std::string(), std::string("x.profile"), std::string("None"),
                                   "/" + std::string(255, 'x')}) {
    EXPECT_FALSE(set_profile(settings, wrong).ok()) << wrong;
    EXPECT_TRUE(same(settings, before));
  }
}

TEST(ProfileOwn, LiesInTheStateFolderOrBelowHome) {
  std::array<char, profile_path_max> path{};
  const auto place = [&path](std::vector<const char*> environment) {
    environment.push_back(nullptr);
    return std::string(path.data(), format_profile_own(environment.data(), path));
  };
  EXPECT_EQ(place({"HOME=/home/u"}), "/home/u/.local/state/cxltier/machine.profile");
  EXPECT_EQ(place({"HOME=/home/u", "XDG_STATE_HOME=/s"}), "/s/cxltier/machine.profile");
  EXPECT_EQ(place({"HOME=/home/u", "XDG_STATE_HOME=relative"}),
            "/home/u/.local/state/cxltier/machine.profile");
  EXPECT_EQ(place({"HOME=u"}), "");
  EXPECT_EQ(place({}), "");
  const std::string endless = "HOME=/" + std::string(300, 'x');
  EXPECT_EQ(place({endless.c_str()}), "");
  EXPECT_STREQ(path.data(), "") << "half a path would be another file";
}

TEST(SettingsFrom, ReadsEveryVariable) {
  const char* const environment[] = {
      "PATH=/bin",       "CXLTIER_POLICY=first-touch", "CXLTIER_START=1M", "CXLTIER_LIMIT=dram=64M",
      "CXLTIER_LOG=all", "CXLTIER_TIERS=0;1",          "CXLTIER_LOG=off",  nullptr};
  Settings settings;
  const EnvironmentReport report = settings_from(environment, settings);

  EXPECT_EQ(report.wrong_count, 0u);
  EXPECT_EQ(settings.policy, PolicyKind::first_touch);
  EXPECT_EQ(settings.start_heap, Bytes{1'048'576});
  EXPECT_EQ(settings.limit_dram, Bytes{67'108'864});
  EXPECT_EQ(settings.log, LogLevel::all) << "the first of two counts, as for getenv";
  EXPECT_STREQ(settings.tiers.data(), "0;1");
}

TEST(SettingsFrom, UnsetEmptyAndForeignNamesChangeNothing) {
  const char* const environment[] = {"CXLTIER_POLICY=",
                                     "CXLTIER_POLICYX=first-touch",
                                     "CXLTIER_LOG",
                                     "XCXLTIER_LOG=off",
                                     "=",
                                     "",
                                     "cxltier_policy=first-touch",
                                     nullptr};
  Settings settings;
  EXPECT_EQ(settings_from(environment, settings).wrong_count, 0u);
  EXPECT_EQ(settings_from(nullptr, settings).wrong_count, 0u);
  EXPECT_TRUE(same(settings, Settings{}));
}

TEST(SettingsFrom, AWrongValueKeepsTheDefaultAndIsReportedInOneLine) {
  const char* const environment[] = {"CXLTIER_POLICY=turbo", "CXLTIER_START=1M", nullptr};
  Settings settings;
  const EnvironmentReport report = settings_from(environment, settings);
  std::array<char, 320> line{};
  ASSERT_EQ(report.wrong_count, 1u);
  format_wrong(report.wrong[0], line);

  EXPECT_STREQ(line.data(),
               "cxltier: CXLTIER_POLICY=turbo: unknown policy 'turbo'; known: first-touch, "
               "hot-cold, balance, capacity; using hot-cold");
  EXPECT_EQ(settings.policy, PolicyKind::hot_cold);
  EXPECT_EQ(settings.start_heap, Bytes{1'048'576}) << "the right ones still count";
}

// What the report says is in force must be what is in force.
TEST(SettingsFrom, TheNamedFallbacksAreTheDefaults) {
  const char* const environment[] = {"CXLTIER_POLICY=?",
                                     "CXLTIER_LIMIT=?",
                                     "CXLTIER_TIERS=?",
                                     "CXLTIER_START=?",
                                     "CXLTIER_PROFILE=?",
                                     "CXLTIER_LOG=?",
                                     nullptr};
  Settings settings;
  const EnvironmentReport report = settings_from(environment, settings);
  ASSERT_EQ(report.wrong_count, variables_max);
  EXPECT_TRUE(same(settings, Settings{}));

  Settings stated;
  ASSERT_TRUE(set_policy(stated, report.wrong[0].used).ok());
  ASSERT_TRUE(set_start(stated, report.wrong[3].used).ok());
  ASSERT_TRUE(set_log(stated, report.wrong[5].used).ok());
  EXPECT_TRUE(same(stated, Settings{}));
}

TEST(FormatWrong, NeverPassesControlCharactersOrEndlessValuesOn) {
  const std::string value = "CXLTIER_LOG=\x1b[31m\n" + std::string(5000, 'x');
  const char* const environment[] = {value.c_str(), nullptr};
  Settings settings;
  const EnvironmentReport report = settings_from(environment, settings);
  ASSERT_EQ(report.wrong_count, 1u);
  std::array<char, 320> line{};
  const std::string text(line.data(), format_wrong(report.wrong[0], line));

  EXPECT_LT(text.size(), 300u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("using errors"), std::string::npos) << text;
}

TEST(FixedText, DropsWhatDoesNotFitAndSaysSo) {
  std::array<char, 4> chars{};
  FixedText text(chars);
  text << "ab" << 12345u;
  EXPECT_STREQ(text.c_str(), "ab1");
  EXPECT_FALSE(text.complete());
}

// Noise from the characters that the forms are made of: whatever is refused changes nothing, the
// word lies inside the text, and whatever is taken survives being written and read again.
TEST(SettingsNoise, RefusalsChangeNothingAndAcceptanceIsStable) {
  const char* const given = std::getenv("CXLTIER_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 20260714u;
  SCOPED_TRACE("CXLTIER_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> pieces = {"dram", "cxl", "tier", "tier3", "=", ",",
                                           ";",    "0",   "1",    "64",    "M", "K",
                                           "GiB",  "\n",  "-",    "\xff",  " "};
  int accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    for (auto n = random() % 7; n > 0; --n) text += pieces[random() % pieces.size()];
    for (const auto set : {set_policy, set_limit, set_tiers, set_start, set_profile, set_log}) {
      Settings settings;
      const SettingsError error = set(settings, text);
      if (error.ok()) {
        ++accepted;
        continue;
      }
      ASSERT_TRUE(same(settings, Settings{})) << text;
      ASSERT_GE(error.word.data(), text.data());
      ASSERT_LE(error.word.data() + error.word.size(), text.data() + text.size());
      ASSERT_NE(error.expected, nullptr);
    }
    Settings limits;
    if (!set_limit(limits, text).ok()) continue;
    std::array<char, limits_text_max> written{};
    format_limits(limits, written);
    Settings again;
    ASSERT_TRUE(set_limit(again, written.data()).ok()) << written.data();
    ASSERT_TRUE(same(limits, again)) << text;
  }
  EXPECT_GT(accepted, 100) << "the noise must reach both sides";
}

}  // namespace
}  // namespace cxltier
