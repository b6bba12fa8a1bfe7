// SPDX-License-Identifier: Apache-2.0
//
// The command line: bad usage names the word and the known ones.
#include "bench/tier/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/tier/host/buffer.h"
#include "bench/tier/host/processors.h"

namespace cxltier::bench {
namespace {

std::string wrong(const std::vector<std::string>& words) { return parse_options(words).wrong; }

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Options, DefaultsAreTheOverview) {
  const Options options = parse_options({});
  EXPECT_EQ(options.wrong, "");
  EXPECT_EQ(options.mode, "overview");
  EXPECT_EQ(options.time_s, 55);
  EXPECT_EQ(options.rounds, 15);
  EXPECT_EQ(parse_options({"latency"}).rounds, 9);
}

TEST(Options, BothWaysOfGivingAValue) {
  EXPECT_EQ(parse_options({"latency", "--chains=1,16"}).chains, (std::vector<std::size_t>{1, 16}));
  const Options options = parse_options({"--mixes", "R,1:1nt", "bandwidth"});
  ASSERT_EQ(options.mixes.size(), 2u);
  EXPECT_EQ(options.mixes[1].name, "1:1nt");
  EXPECT_EQ(parse_options({"--peak", "0=307.2,2=26"}).peaks.at(2), 26);
}

TEST(Options, TheProfilesFileMayBeLeftOut) {
  EXPECT_FALSE(parse_options({"latency"}).save);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"latency", "--save"},
                                                {"--save", "latency"},
                                                {"latency", "--save", "--json"}}) {
    const Options options = parse_options(words);
    EXPECT_EQ(options.wrong, "");
    EXPECT_TRUE(options.save);
    EXPECT_EQ(options.save_path, "");
    EXPECT_EQ(options.mode, "latency");
  }
  EXPECT_EQ(parse_options({"latency", "--save", "x.profile"}).save_path, "x.profile");
  EXPECT_EQ(parse_options({"--save=latency"}).save_path, "latency");
  EXPECT_TRUE(holds(wrong({"--save="}), "--save: the value is empty"));
}

TEST(Options, WhatIsNamedTwiceIsMeasuredOnce) {
  const Options options = parse_options({"--chains", "4,1,4", "--mixes=R,2:1,R", "--nodes=0,0"});
  EXPECT_EQ(options.chains, (std::vector<std::size_t>{4, 1}));
  EXPECT_EQ(options.mixes.size(), 2u);
  EXPECT_EQ(options.nodes.size(), 1u);
}

TEST(Options, TheWordAndTheKnownOnesAreNamed) {
  EXPECT_TRUE(holds(wrong({"latencies"}), "unknown mode 'latencies'; known: overview, latency"));
  EXPECT_TRUE(holds(wrong({"--frob"}), "unknown option '--frob'; known: --nodes"));
  EXPECT_TRUE(holds(wrong({"--mixes", "R,8:8"}), "unknown mix '8:8'; known: R, 2:1"));
  EXPECT_TRUE(holds(wrong({"--pages", "1g"}), "unknown kind of pages '1g'; known: 4k, thp"));
  EXPECT_TRUE(holds(wrong({"--order", "x"}), "unknown order 'x'; known: whole"));
  EXPECT_TRUE(holds(wrong({"--kernel", "mmx"}), "'mmx' cannot run here or is unknown; known here"));
  EXPECT_TRUE(holds(wrong({"--reference", "x"}), "unknown machine 'x'; known: intel-snc4"));
  EXPECT_TRUE(holds(wrong({"latency", "move"}), "two modes, 'latency' and 'move'"));
  EXPECT_TRUE(holds(wrong({"--rounds"}), "--rounds needs a value"));
  EXPECT_TRUE(holds(wrong({"--rounds", "2"}), "'2' is not a number from 3"));
  EXPECT_TRUE(holds(wrong({"--rounds", "4.5"}), "'4.5' is not a whole number"));
  EXPECT_TRUE(holds(wrong({"--chains", "17"}), "'17' is not a number from 1 to 16"));
  EXPECT_TRUE(holds(wrong({"--json=yes"}), "--json takes no value"));
  EXPECT_TRUE(holds(wrong({"--peak", "0:300"}), "'0:300' is not NODE=GB/s"));
  EXPECT_TRUE(holds(wrong({"--delays", ""}), "--delays: the list is empty"));
  EXPECT_TRUE(holds(wrong({"--spacing", "96"}), "'96' is no spacing; known: 64, 128, 256"));
}

// Whatever the order: what was asked for wins over what the short form would take.
TEST(Options, TheShortFormLeavesWhatWasAskedFor) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--smoke", "--rounds", "5"}, {"--rounds", "5", "--smoke"}}) {
    const Options options = parse_options(words);
    EXPECT_EQ(options.rounds, 5);
    EXPECT_EQ(options.sample_ms, 2);
    EXPECT_EQ(options.time_s, 5);
  }
}

TEST(Options, TwoFormsOnOneStreamAreRefused) {
  EXPECT_TRUE(holds(wrong({"--json", "--csv"}), "--json and --csv both print"));
  EXPECT_EQ(wrong({"--json", "--json"}), "");
}

TEST(Options, AReferenceMayBeAFile) {
  EXPECT_EQ(parse_options({"--reference", "./mine.json"}).references.size(), 1u);
  EXPECT_EQ(parse_options({"--reference", "spr-e3s,mine.json"}).references.size(), 2u);
}

TEST(Options, HelpNamesEveryMode) {
  const Options options = parse_options({"--help"});
  ASSERT_TRUE(options.exit_text.has_value());
  for (const char* const mode : {"overview", "latency", "bandwidth", "curve", "peak", "scaling",
                                 "interleave", "alloc", "move", "app", "peers"}) {
    EXPECT_TRUE(holds(*options.exit_text, mode)) << mode;
  }
}

TEST(Processors, CacheSizesAsSysfsWritesThem) {
  EXPECT_EQ(parse_cache_size("32768K\n"), 32u << 20);
  EXPECT_EQ(parse_cache_size("1M"), 1u << 20);
  EXPECT_EQ(parse_cache_size("512"), 512u);
  EXPECT_EQ(parse_cache_size(""), 0u);
  EXPECT_EQ(parse_cache_size("many"), 0u);
}

// No madvise overrides "never": asked for by default, every figure would be called invalid.
TEST(Buffer, HugePagesThatAreOffAreNotTheUsualOnes) {
  EXPECT_EQ(usual_pages({}, "always madvise [never]"), PageKind::small);
  EXPECT_EQ(usual_pages({}, "always [madvise] never"), PageKind::thp);
  EXPECT_EQ(usual_pages({}, ""), PageKind::thp);
  EXPECT_EQ(usual_pages(PageKind::thp, "always madvise [never]"), PageKind::thp);
  EXPECT_EQ(usual_pages(PageKind::hugetlb, "always madvise [never]"), PageKind::hugetlb);
}

TEST(Buffer, NodesAreDealtByWeight) {
  const std::vector<NodeWeight> nodes = {{NodeId{0}, 3}, {NodeId{2}, 1}, {NodeId{5}, 0}};
  std::string dealt;
  for (std::uint64_t i = 0; i < 8; ++i) dealt += std::to_string(index_of(dealt_node(nodes, i)));
  EXPECT_EQ(dealt, "00020002");
}

TEST(Buffer, IsWhereItWasTouchedAndItsPagesAreCounted) {
  int error = 0;
  const std::optional<Buffer> buffer =
      Buffer::make({std::size_t{3} << 20, PageKind::small, {}}, error);
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ(buffer->bytes().size(), std::size_t{4} << 20);  // rounded up
  const PlacementReport report = buffer->report();
  if (report.located) {
    EXPECT_EQ(report.share_as_asked, 1);
    EXPECT_GT(report.pages_checked, 0u);
  }
  if (report.huge_known) {
    EXPECT_EQ(report.huge_share, 0);
  }
}

}  // namespace
}  // namespace cxltier::bench
