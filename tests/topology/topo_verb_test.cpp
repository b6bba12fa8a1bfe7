// SPDX-License-Identifier: Apache-2.0
//
// `cxltier topo` as a user meets it: exit codes, what is on which stream, and the JSON schema.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace {

struct Outcome {
  int exit_code = -1;
  std::string text;
};

// Runs the command in a shell; `streams` says what becomes of stdout and stderr.
Outcome run(const std::string& arguments, const std::string& streams) {
  Outcome outcome;
  const std::string command = std::string(CXLTIER_COMMAND) + " " + arguments + " " + streams;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.text.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

Outcome run_for_data(const std::string& arguments) { return run(arguments, "2>/dev/null"); }
Outcome run_for_complaint(const std::string& arguments) {
  return run(arguments, "2>&1 >/dev/null");
}

std::string snapshot(const std::string& name) {
  return "--root '" CXLTIER_FIXTURES "/" + name + "'";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TopoVerb, PrintsJsonOfVersion1) {
  const Outcome outcome = run_for_data("topo --json " + snapshot("genport-2socket-7.3"));

  ASSERT_EQ(outcome.exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.text);
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["nodes"].size(), 3u);
  const nlohmann::json& cxl = json["nodes"][2];
  EXPECT_EQ(cxl["id"], 3);
  EXPECT_EQ(cxl["kind"], "cxl");
  EXPECT_EQ(cxl["cpus"], 0);
  EXPECT_EQ(cxl["cpu_list"], "");
  EXPECT_EQ(cxl["bytes"], 536870912);
  EXPECT_EQ(cxl["tier"], 1);
  EXPECT_EQ(cxl["kernel_tier"], 150);
  EXPECT_EQ(cxl["read_latency_ns"], 212);
  EXPECT_EQ(cxl["memdevs"][0]["serial"], "0x1");
  EXPECT_EQ(json["nodes"][1]["cpu_list"], "2-3");
  EXPECT_EQ(json["tiers"][0]["nodes"], nlohmann::json::parse("[0, 1]"));
  EXPECT_EQ(json["distances"][0], nlohmann::json::parse("[10, 21, 20]"));
}

TEST(TopoVerb, UnknownValuesAreNull) {
  const Outcome outcome = run_for_data("topo --json " + snapshot("64fake-4n2s2ca2c2t"));

  ASSERT_EQ(outcome.exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.text);
  EXPECT_TRUE(json["nodes"][0]["read_latency_ns"].is_null());
  EXPECT_TRUE(json["nodes"][0]["kernel_tier"].is_null());
  EXPECT_TRUE(json["distances"][0][1].is_null());
}

// Below the switch the card with serial 0x2 was probed first.
TEST(TopoVerb, CardsAreToldApartBySerial) {
  const Outcome outcome = run_for_data("topo --json " + snapshot("switch-interleave2-6.12"));

  ASSERT_EQ(outcome.exit_code, 0);
  const nlohmann::json devices = nlohmann::json::parse(outcome.text)["nodes"][1]["memdevs"];
  ASSERT_EQ(devices.size(), 2u);
  for (const nlohmann::json& device : devices) {
    EXPECT_EQ(device["serial"], device["name"] == "mem0" ? "0x2" : "0x1");
  }
}

TEST(TopoVerb, TableNamesTiersAndNotes) {
  const Outcome outcome = run_for_data("topo " + snapshot("genport-2socket-6.12"));

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.text, "tier 1: 512 MiB, node 3 (cxl)"));
  EXPECT_TRUE(contains(outcome.text, "note: node 3: ")) << outcome.text;
  EXPECT_TRUE(contains(outcome.text, "17210 ns"));
}

TEST(TopoVerb, UserSetsTiers) {
  const Outcome outcome =
      run_for_data("topo --json --tiers '2,4;0-1/6' " + snapshot("fakeheteromemtiers"));

  ASSERT_EQ(outcome.exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.text);
  EXPECT_EQ(json["tiers"][0]["nodes"], nlohmann::json::parse("[2, 4]"));
  EXPECT_EQ(json["tiers"][2]["nodes"], nlohmann::json::parse("[6]"));
  EXPECT_TRUE(json["nodes"][5]["tier"].is_null());
}

struct Misuse {
  const char* arguments;
  int exit_code;
  const char* word;
  const char* known;
};

TEST(TopoVerb, MisuseNamesTheWordAndTheKnownOnes) {
  const Misuse misuses[] = {
      {"tpoo", 2, "tpoo", "topo"},
      {"", 2, "no verb", "topo"},
      {"--jsn", 2, "--jsn", "--version"},
      {"topo --jsn", 2, "--jsn", "--json"},
      {"topo everything", 2, "everything", "--root"},
      {"topo --root", 2, "--root", "--tiers"},
      {"topo --tiers '0;1023'", 2, "1023", "nodes with memory: 0"},
      {"topo --tiers '0;'", 2, "'0;'", "0,1;2"},
      {"topo --root /nonexistent", 1, "/nonexistent", "--root"},
      {"topo --root " CXLTIER_FIXTURES, 1, "sys/devices/system/node", "--root"},
  };
  for (const Misuse& misuse : misuses) {
    const Outcome complaint = run_for_complaint(misuse.arguments);

    EXPECT_EQ(complaint.exit_code, misuse.exit_code) << misuse.arguments;
    EXPECT_TRUE(contains(complaint.text, misuse.word)) << complaint.text;
    EXPECT_TRUE(contains(complaint.text, misuse.known)) << complaint.text;
    EXPECT_EQ(run_for_data(misuse.arguments).text, "") << misuse.arguments;
  }
}

TEST(TopoVerb, FullDiskIsAFailure) {
  const Outcome outcome = run("topo " + snapshot("single-6.12"), "2>&1 >/dev/full");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.text, "cannot write")) << outcome.text;
}

TEST(TopoVerb, HelpAndVersionAreData) {
  EXPECT_TRUE(contains(run_for_data("--version").text, "cxltier 0"));
  EXPECT_TRUE(contains(run_for_data("--help").text, "topo"));
  EXPECT_TRUE(contains(run_for_data("topo --help").text, "--tiers"));
  EXPECT_EQ(run_for_data("topo --help").exit_code, 0);
}

}  // namespace
