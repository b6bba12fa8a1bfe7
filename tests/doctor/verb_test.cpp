// SPDX-License-Identifier: Apache-2.0
//
// `cxltier doctor` as a program: exit codes, the JSON schema, JUnit.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

struct Outcome {
  int exit_code = -1;
  std::string text;
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  const std::string command = std::string(CXLTIER_COMMAND) + " " + arguments;
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

std::string root(const std::string& name) { return "--root '" CXLTIER_FIXTURES "/" + name + "' "; }

TEST(DoctorVerb, ExitCodesSayOkProblemsAndBlind) {
  EXPECT_EQ(run("doctor " + root("single-6.12")).exit_code, 0);
  EXPECT_EQ(run("doctor " + root("no-region-6.12")).exit_code, 1);
  EXPECT_EQ(run("doctor --root /nonexistent 2>/dev/null").exit_code, 3);
  EXPECT_EQ(run("doctor --wrong 2>/dev/null").exit_code, 2);
  EXPECT_EQ(run("doctor --junit /nonexistent/x " + root("single-6.12") + "2>/dev/null").exit_code,
            1);
}

TEST(DoctorVerb, JsonOfVersion1) {
  const Outcome outcome = run("doctor --json " + root("no-region-6.12"));
  const nlohmann::json json = nlohmann::json::parse(outcome.text);

  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["state"], "fail");
  EXPECT_EQ(json["counts"]["fail"], 1);
  bool found = false;
  for (const nlohmann::json& check : json["checks"]) {
    if (check["id"] != "region") continue;
    found = true;
    EXPECT_EQ(check["reason"], 4);
    EXPECT_EQ(check["stage"], "region");
    EXPECT_EQ(check["state"], "fail");
    EXPECT_EQ(check["evidence"][0]["file"], "sys/bus/cxl/devices/endpoint2/decoders_committed");
    EXPECT_EQ(check["evidence"][0]["value"], "0");
    EXPECT_EQ(check["fixes"][0], "cxltier provision");
  }
  EXPECT_TRUE(found);
}

TEST(DoctorVerb, JUnitHasACaseForEachCheck) {
  const std::string file = testing::TempDir() + "cxltier-doctor-junit.xml";
  EXPECT_EQ(run("doctor --junit " + file + " " + root("no-region-6.12")).exit_code, 1);
  std::ifstream stream(file);
  const std::string xml((std::istreambuf_iterator<char>(stream)), {});
  std::remove(file.c_str());

  EXPECT_NE(xml.find("failures=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"region\"><failure message="), std::string::npos);
  EXPECT_EQ(xml.rfind("</testsuite>\n"), xml.size() - 13);
}

}  // namespace
