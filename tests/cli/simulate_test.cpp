// SPDX-License-Identifier: Apache-2.0
//
// `cxltier simulate`, `record` and `advise`: their outputs hold what they promise, and each wrong
// word is named.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "tests/cli/command.h"

namespace cxltier {
namespace {

using SimulateVerb = Command;
using RecordVerb = Command;
using AdviseVerb = Command;

const std::string with_publisher =
    "coproc publisher_process { exec $publisher; }\n"
    "read -r pid <&\"${publisher_process[0]}\"\n";

TEST_F(SimulateVerb, TableHasALineForEachPolicy) {
  const Outcome outcome =
      shell("$cxltier simulate --workload gups --ratio 2 --policy first-touch,hottest-first");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "gups:spr-cxl:1:2:0x: 16.0 GiB, 5.3 GiB of it fast"))
      << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nfirst-touch ")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nhottest-first ")) << outcome.out;
}

TEST_F(SimulateVerb, JsonIsTheSameEachTime) {
  const std::string line =
      "$cxltier simulate --workload zipf-0.99 --policy memtis-like,balance --json";
  const Outcome first = shell(line);
  ASSERT_EQ(first.status, 0) << first.err;
  const nlohmann::json json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["policies"].size(), 2u);
  for (const nlohmann::json& policy : json["policies"]) {
    EXPECT_GT(policy["of_oracle"], 0.5);
    EXPECT_LE(policy["of_oracle"], 1.001);
    EXPECT_GT(policy["timeline"].size(), 100u);
  }
  EXPECT_EQ(first.out, shell(line).out);
}

TEST_F(SimulateVerb, PageIsSelfContained) {
  const Outcome outcome = shell(
      "$cxltier simulate --workload shift-25 --policy first-touch,balance --html $scratch/page");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string page = read("page");
  for (const char* part : {"<!doctype html>", "Accesses on the fastest tier", "Speed", "Moved",
                           "Mean loaded latency J", "first-touch", "balance"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<svg"), 4u);
  EXPECT_EQ(count("<polyline"), 8u);
  for (const char* part : {"<script", "http:", "https:", "src=", "@import", "nan"}) {
    EXPECT_FALSE(holds(page, part)) << part;
  }
}

TEST_F(SimulateVerb, UnknownNamesAreNamed) {
  const Outcome policy = shell("$cxltier simulate --policy nonsense");
  EXPECT_EQ(policy.status, 2);
  EXPECT_TRUE(holds(policy.err, "unknown policy 'nonsense'")) << policy.err;
  const Outcome workload = shell("$cxltier simulate --workload nonsense");
  EXPECT_EQ(workload.status, 2);
  EXPECT_TRUE(holds(workload.err, "unknown workload 'nonsense'")) << workload.err;
  EXPECT_EQ(shell("$cxltier simulate --grid huge").status, 2);
  EXPECT_EQ(shell("$cxltier simulate --html /nowhere/page --policy first-touch").status, 1);
  const Outcome list = shell("$cxltier simulate --list");
  EXPECT_EQ(list.status, 0);
  EXPECT_TRUE(holds(list.out, "eurosys24")) << list.out;
}

TEST_F(RecordVerb, WritesTheHeatOfAPage) {
  const Outcome outcome =
      shell(with_publisher + "$cxltier record $pid --seconds 0.2 --interval 0.05 --stall 30");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"cxltier-trace 2\n", "page_size 4096\n", "stall_permille 300 50\n",
                           "tiers 2\n", "pages 1000 3000\n", "heat 0:3000 127:1000\n", "end 1\n"}) {
    EXPECT_TRUE(holds(outcome.out, part)) << part << "\n" << outcome.out;
  }
}

TEST_F(RecordVerb, SaysWhyThereIsNothing) {
  const Outcome nobody = shell("$cxltier record 99999999");
  EXPECT_EQ(nobody.status, 1);
  EXPECT_TRUE(holds(nobody.err, "there is no process 99999999")) << nobody.err;
  const Outcome shell_itself = shell("$cxltier record $$ --seconds 0.1");
  EXPECT_EQ(shell_itself.status, 1);
  EXPECT_TRUE(holds(shell_itself.err, "is not under cxltier")) << shell_itself.err;
  EXPECT_EQ(shell("$cxltier record").status, 2);
  EXPECT_EQ(shell("$cxltier record 1 -- true").status, 2);
  const Outcome ended = shell("$cxltier record --interval 0.05 -- true");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(holds(ended.err, "the program ended before")) << ended.err;
}

TEST_F(AdviseVerb, AnswersForARecordedProcess) {
  // 3,000 of 4,000 pages are never touched: 11.7 MiB may be slow at no cost.
  const Outcome outcome =
      shell(with_publisher +
            "$cxltier record $pid --seconds 0.1 --interval 0.05 --out $scratch/trace\n"
            "$cxltier advise $scratch/trace --machine spr-cxl --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["bytes"], 4000 * 4096);
  EXPECT_EQ(json["stall_known"], false);
  ASSERT_EQ(json["answers"].size(), 3u);
  for (const nlohmann::json& answer : json["answers"]) {
    EXPECT_GE(answer["slow_bytes"]["low"], 0.74 * 4000 * 4096);
    EXPECT_LE(answer["slow_bytes"]["low"], answer["slow_bytes"]["high"]);
  }
  EXPECT_EQ(json["curve"].size(), 101u);
}

TEST_F(AdviseVerb, TextSaysWhatIsNotKnown) {
  write("trace", "cxltier-trace 2\nframe 5\nheat 0:3000 40:1000\nend 1\n");
  const Outcome outcome = shell("$cxltier advise $scratch/trace --machine eurosys24-fit");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "--stall PERCENT")) << outcome.out;
  const Outcome known = shell("$cxltier advise $scratch/trace --machine spr-cxl --stall 20");
  EXPECT_FALSE(holds(known.out, "--stall PERCENT")) << known.out;
}

TEST_F(AdviseVerb, WrongTracesAreNamedByLine) {
  write("trace", "cxltier-trace 2\nframe 5\nheat 128:1\nend 1\n");
  const Outcome wrong = shell("$cxltier advise $scratch/trace");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(holds(wrong.err, "line 3: heat is BIN:PAGES")) << wrong.err;
  EXPECT_EQ(shell("$cxltier advise $scratch/absent").status, 1);
  write("empty", "cxltier-trace 2\nframe 5\nend 1\n");
  EXPECT_EQ(shell("$cxltier advise $scratch/empty").status, 1);
}

TEST_F(SimulateVerb, ReplaysATrace) {
  write("trace", "cxltier-trace 2\nframe 5\nheat 0:300000 40:100000\nend 1\n");
  const Outcome outcome =
      shell("$cxltier simulate --trace $scratch/trace --policy first-touch,hottest-first");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "1.0 GiB") || holds(outcome.out, "2.0 GiB")) << outcome.out;
}

}  // namespace
}  // namespace cxltier
