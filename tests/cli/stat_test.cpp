// SPDX-License-Identifier: Apache-2.0
//
// `cxltier stat`: the values of a known page in both forms, and the right reason where there is
// no page.
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace cxltier {
namespace {

using StatVerb = Command;

// Starts the publisher as $pid; it ends with the script, whose end closes the descriptor.
const std::string with_publisher =
    "coproc publisher_process { exec $publisher; }\n"
    "read -r pid <&\"${publisher_process[0]}\"\n";

TEST_F(StatVerb, JsonHoldsTheValuesOfThePage) {
  const Outcome outcome = shell(with_publisher + "$cxltier stat $pid --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);

  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["state"], "active");
  EXPECT_EQ(json["policy"], "hot-cold");
  EXPECT_EQ(json["ticks"], 12);
  EXPECT_EQ(json["pages_promoted"], 256);
  EXPECT_EQ(json["bytes_promoted"], 1'048'576);
  EXPECT_EQ(json["bytes_demoted"], 2'097'152);
  EXPECT_EQ(json["refusals"]["busy"], 3);
  EXPECT_EQ(json["refusals"].size(), 7u);
  EXPECT_EQ(json["over_limit_pages_max"], 40);
  EXPECT_EQ(json["over_limit_bytes_max"], 163'840);
  EXPECT_EQ(json["cpu_s"], 1.5);
  EXPECT_GT(json["cpu_share"], 0.0);
  EXPECT_GT(json["updated_age_ms"], 0);
  EXPECT_EQ(
      json["nodes"][1],
      nlohmann::json::parse(R"({"id":2,"kind":"cxl","tier":1,"pages":3000,"bytes":12288000})"));
  EXPECT_EQ(json["tiers"][0],
            nlohmann::json::parse(R"({"tier":0,"pages":1000,"bytes":4096000,)"
                                  R"("limit_bytes":4194304,"over_limit_bytes_max":163840,)"
                                  R"("latency_ns":null,"latency_idle_ns":null})"));
  EXPECT_TRUE(json["tiers"][1]["limit_bytes"].is_null());
  EXPECT_EQ(json["heat_histogram"].size(), 64u);
  EXPECT_EQ(json["heat_histogram"][63], 1000);
}

TEST_F(StatVerb, TextShowsNodesTiersMovesAndBars) {
  const Outcome outcome = shell(with_publisher + "$cxltier stat $pid");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"active", "policy hot-cold", "   2  cxl            1          3000    11.7 MiB",
        "promoted  256 pages (1.0 MiB)", "demoted   512 pages (2.0 MiB)", "busy 3",
        "below 0.00195             3000  ########################################\n",
        "from 524288               1000  #############\n", "4.0 MiB", "160.0 KiB"}) {
    EXPECT_TRUE(holds(outcome.out, part)) << part << "\n" << outcome.out;
  }
}

TEST_F(StatVerb, WatchEndsWithTheProcess) {
  const Outcome outcome =
      shell(with_publisher +
            "$cxltier stat $pid --json --watch 0.05 | { read -r first; read -r second\n"
            "  kill $pid; cat >/dev/null; echo \"$second\"; exit \"${PIPESTATUS[0]}\"; }\n"
            "echo ${PIPESTATUS[0]}");
  EXPECT_TRUE(holds(outcome.out, "\"ticks\":12")) << outcome.out << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("\n0\n")) << outcome.out;
}

TEST_F(StatVerb, WatchEndsWithoutErrorOnCtrlC) {
  const Outcome outcome =
      shell(with_publisher +
            "set -m\n$cxltier stat $pid --watch 0.05 >$scratch/shown &\n"
            "until [ \"$(grep -c promoted $scratch/shown)\" -ge 2 ]; do sleep 0.05; done\n"
            "kill -INT $!\nwait $!");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(StatVerb, AWrongWordIsAUsageError) {
  for (const char* words : {"", "redis", "-5", "0", "12x", "99999999999", "1 --watch soon",
                            "1 --watch 0", "1 --jsn", "1 2"}) {
    const Outcome outcome = shell(std::string("$cxltier stat ") + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_NE(outcome.err, "") << words;
    EXPECT_EQ(outcome.out, "") << words;
  }
  EXPECT_TRUE(holds(shell("$cxltier stat 1 --jsn").err, "unknown option '--jsn'; options: --help"));
  EXPECT_TRUE(holds(shell("$cxltier stat redis").err, "'redis' is not a process number"));
}

TEST_F(StatVerb, SaysWhyThereIsNothingToShow) {
  const Outcome nobody = shell("$cxltier stat 4194305");  // above the kernel's PID_MAX_LIMIT
  EXPECT_EQ(nobody.status, 1);
  EXPECT_TRUE(holds(nobody.err, "there is no process 4194305")) << nobody.err;

  const Outcome outside = shell("$cxltier stat $$");
  EXPECT_EQ(outside.status, 1);
  EXPECT_TRUE(holds(outside.err, "(bash) is not under cxltier; start it with")) << outside.err;

  const Outcome early = shell("$cxltier run -- bash -c \"$cxltier stat \\$\\$\"");
  EXPECT_EQ(early.status, 1);
  EXPECT_TRUE(holds(early.err, "it starts when the heap grows beyond CXLTIER_START")) << early.err;

  const Outcome elsewhere =
      shell("FAKE_CONTROLLER=1 $cxltier run -- bash -c \"sleep 0.2; $cxltier stat \\$\\$\"");
  EXPECT_EQ(elsewhere.status, 1);
  EXPECT_TRUE(holds(elsewhere.err, "give the same: XDG_RUNTIME_DIR=DIR")) << elsewhere.err;
}

TEST_F(StatVerb, ADamagedAStalePageAndAnOpenFolderAreToldApart) {
  const std::string folder = "mkdir -m 700 -p $scratch/cxltier\n";
  const Outcome damaged =
      shell(folder + "printf '%09000d' 7 >$scratch/cxltier/$$\n$cxltier stat $$");
  EXPECT_EQ(damaged.status, 1);
  EXPECT_TRUE(holds(damaged.err, "is damaged")) << damaged.err;

  const Outcome stale =
      shell(with_publisher + "cp $scratch/cxltier/$pid $scratch/cxltier/$$\n$cxltier stat $$");
  EXPECT_EQ(stale.status, 1);
  EXPECT_TRUE(holds(stale.err, "(bash) is not under cxltier; start it with")) << stale.err;

  // Only of a process that has the library is the folder worth a word.
  const std::string open_folder = "chmod 755 $scratch/cxltier\n";
  const Outcome foreign = shell(with_publisher + open_folder + "$cxltier stat $pid");
  EXPECT_EQ(foreign.status, 1);
  EXPECT_TRUE(holds(foreign.err, "is not under cxltier")) << foreign.err;
  const Outcome untrusted =
      shell(folder + open_folder + "$cxltier run -- bash -c \"$cxltier stat \\$\\$\"");
  EXPECT_EQ(untrusted.status, 1);
  EXPECT_TRUE(holds(untrusted.err, "others could put figures there")) << untrusted.err;
}

// The service was started in a session of its own.
TEST_F(StatVerb, FindsThePageOfAProcessWithAnotherRuntimeFolder) {
  const Outcome elsewhere = shell(with_publisher +
                                  "mkdir $scratch/other\n"
                                  "XDG_RUNTIME_DIR=$scratch/other $cxltier stat $pid");
  EXPECT_EQ(elsewhere.status, 0) << elsewhere.err;
  EXPECT_TRUE(holds(elsewhere.out, "policy hot-cold")) << elsewhere.out;
}

}  // namespace
}  // namespace cxltier
