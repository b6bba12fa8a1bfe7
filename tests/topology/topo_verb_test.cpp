// SPDX-License-Identifier: Apache-2.0
//
// `cxltier topo` as a user meets it: exit codes, what is on which stream, and the JSON schema.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

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
      {"topo --json --svg", 2, "--svg", "--json"},
      {"topo --from /dev/null", 2, "/dev/null", "cxltier collect"},
      {"topo --from /", 2, "directory", "--from"},
      {"topo --from /dev/zero", 2, "/dev/zero", "256 MiB"},
      {"topo --root /dev/null", 1, "/dev/null", "--root"},
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

// The snapshot's machine, as a measurement of it would have been saved.
class TopoProfile : public testing::Test {
 protected:
  TopoProfile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cxltier-topo-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    std::filesystem::copy(
        CXLTIER_FIXTURES "/genport-2socket-7.3", root_,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    std::filesystem::create_directories(root_ + "/etc/cxltier");
  }
  ~TopoProfile() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TopoProfile(const TopoProfile&) = delete;
  TopoProfile& operator=(const TopoProfile&) = delete;

  // Lines for the nodes as the snapshot has them, but for the last one's size.
  void save(const std::string& more, std::uint64_t bytes_of_last = 536870912) const {
    const nlohmann::json json = nlohmann::json::parse(run_for_data("topo --json " + root()).text);
    std::ofstream out(root_ + "/etc/cxltier/machine.profile");
    out << "cxltier-profile 1\nmachine.cpu " << cpu() << "\n";
    for (const nlohmann::json& node : json["nodes"]) {
      const bool last = node["id"] == 3;
      out << "node." << node["id"] << ".bytes "
          << (last ? bytes_of_last : node["bytes"].get<std::uint64_t>()) << "\n";
    }
    out << more;
  }
  // The processor's name in the snapshot; "-" where it has none.
  [[nodiscard]] std::string cpu() const {
    std::ifstream cpuinfo(root_ + "/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
      if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "-";
  }
  [[nodiscard]] std::string root() const { return "--root '" + root_ + "'"; }

  std::string root_;
};

TEST_F(TopoProfile, MeasuredFiguresReplaceFirmwaresAndAreMarked) {
  EXPECT_TRUE(
      nlohmann::json::parse(run_for_data("topo --json " + root()).text)["profile"].is_null());
  save("node.3.latency_ns 260.4\nweights.R 0:13,3:1\n");
  const nlohmann::json json = nlohmann::json::parse(run_for_data("topo --json " + root()).text);
  const nlohmann::json& cxl = json["nodes"][2];
  EXPECT_EQ(cxl["read_latency_ns"], 260);
  EXPECT_EQ(cxl["latency_source"], "measured");
  EXPECT_EQ(cxl["bandwidth_source"], "firmware");
  EXPECT_EQ(json["profile"]["used"], true);
  EXPECT_EQ(json["profile"]["weights"][0]["nodes"]["0"], 13);
  const std::string table = run_for_data("topo " + root()).text;
  EXPECT_TRUE(contains(table, " 260 ns* ")) << table;
  EXPECT_TRUE(contains(table, "* measured, from /etc/cxltier/machine.profile")) << table;
  EXPECT_TRUE(contains(table, "interleave weights for R: node 0: 13, node 3: 1")) << table;
  EXPECT_EQ(
      nlohmann::json::parse(
          run_for_data("topo --json --profile none " + root()).text)["nodes"][2]["read_latency_ns"],
      212);
}

TEST_F(TopoProfile, AStaleOneIsRefusedInOneLineAndFirmwareSpeaks) {
  save("node.3.latency_ns 260.4\n", 2147483648);  // the card was larger then
  const Outcome outcome = run_for_complaint("topo " + root());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.text,
                       "cxltier: topo: the machine profile /etc/cxltier/machine.profile was "
                       "measured on another machine, or before its memory changed"))
      << outcome.text;
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(run_for_data("topo --json " + root()).text);
  EXPECT_EQ(json["nodes"][2]["read_latency_ns"], 212);
  EXPECT_EQ(json["profile"]["used"], false);
  save("node.3.latency_ns soon\n");
  EXPECT_TRUE(contains(run_for_complaint("topo " + root()).text, "makes no sense"));
}

TEST_F(TopoProfile, ANamedOneMustBeThere) {
  EXPECT_TRUE(contains(run_for_complaint("topo --profile /absent " + root()).text,
                       "the machine profile /absent is not there; write it with"));
  EXPECT_EQ(run_for_complaint("topo --profile ''").exit_code, 2);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

// Well-formed as far as counting can tell: every text is closed, and nothing of a name is markup.
TEST(TopoVerb, DrawsAPictureOfEverySnapshot) {
  for (const auto& folder : std::filesystem::directory_iterator(CXLTIER_FIXTURES)) {
    if (!std::filesystem::exists(folder.path() / "sys")) continue;
    const Outcome outcome = run_for_data("topo --svg --io --root '" + folder.path().string() + "'");
    SCOPED_TRACE(folder.path().string());

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.text.starts_with("<svg xmlns="));
    EXPECT_TRUE(outcome.text.ends_with("</svg>\n"));
    EXPECT_EQ(count_of(outcome.text, "<text "), count_of(outcome.text, "</text>"));
    EXPECT_TRUE(contains(outcome.text, ": dram, tier 0</text>"));
  }
}

TEST(TopoVerb, ThePictureHasTheDeviceInsideItsNode) {
  const std::string text = run_for_data("topo --svg " + snapshot("genport-2socket-7.3")).text;
  const std::size_t node = text.find(">node 3: cxl, tier 1</text>");
  const std::size_t memory = text.find(">mem0 0000:0d:00.0</text>");
  EXPECT_NE(node, std::string::npos) << text;
  EXPECT_NE(memory, std::string::npos) << text;
  EXPECT_LT(node, memory);
  EXPECT_TRUE(contains(text, ">serial 0x1</text>"));
}

TEST_F(TopoProfile, ThePictureEscapesNames) {
  std::filesystem::remove_all(root_ + "/sys/bus/cxl");
  std::filesystem::remove(root_ + "/cxl-list-vvv.json");
  std::ofstream(root_ + "/cxl-list.json")
      << R"([{"memdev": "mem<x>&", "ram_size": 268435456, "serial": 1, "host": "<y>"}])";
  const std::string text = run_for_data("topo --svg " + root()).text;
  EXPECT_EQ(text.find("<x>"), std::string::npos) << text;
  EXPECT_TRUE(contains(text, ">mem&lt;x&gt;&amp; &lt;y&gt;</text>")) << text;
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
