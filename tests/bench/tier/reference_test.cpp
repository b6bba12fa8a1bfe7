// SPDX-License-Identifier: Apache-2.0
//
// Published machines, and curves of a file that anybody may have written: impossible points in them
// are flagged, wherever they stand, and a broken file is refused with the place and the cause.
#include "bench/tier/reference/reference.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "bench/tier/reference/curves_file.h"
#include "bench/tier/result/table.h"

namespace cxltier::bench {
namespace {

TEST(Reference, EveryNameReads) {
  const std::string names = reference_names();
  std::size_t count = 0;
  for (std::size_t at = 0; at != std::string::npos; ++count) {
    const std::size_t end = names.find(", ", at);
    const std::string name = names.substr(at, end == std::string::npos ? end : end - at);
    ASSERT_TRUE(is_reference(name)) << name;
    const Document document = read_reference(name);
    EXPECT_FALSE(document.source.empty()) << name;
    EXPECT_FALSE(document.cells.empty() && document.findings.empty()) << name;
    EXPECT_FALSE(table_of(document).empty());
    at = end == std::string::npos ? end : end + 2;
  }
  EXPECT_EQ(count, 20u);
}

// Published figures meet ours by the same names of mixes.
TEST(Reference, NonTemporalWritesAreCalledAsOursAre) {
  const Document document = read_reference("intel-snc4-eurosys24");
  EXPECT_NE(document.find("bandwidth/cpu0/node2/W-nt"), nullptr);
}

TEST(Reference, TheTrapIsShownInNumbers) {
  const Document document = read_reference("micron-interleave-test");
  EXPECT_TRUE(
      std::any_of(document.findings.begin(), document.findings.end(), [](const std::string& line) {
        return line.find("DRAM alone 298.8 GB/s; pages dealt 1:1 over DRAM and CXL 113.0") !=
               std::string::npos;
      }));
}

class CurvesFile : public testing::Test {
 protected:
  CurvesFile() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "cxltier-curves-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~CurvesFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CurvesFile(const CurvesFile&) = delete;
  CurvesFile& operator=(const CurvesFile&) = delete;

  [[nodiscard]] Document read(const std::string& text) const {
    const std::string path = folder_ + "/curves.json";
    std::ofstream(path) << text;
    EXPECT_TRUE(is_reference(path));
    return read_reference(path);
  }
  [[nodiscard]] std::string fault(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const std::invalid_argument& wrong) {
      return wrong.what();
    }
    return "";
  }

  std::string folder_;
};

std::string curve(const std::string& tier, double idle_ns) {
  return "{\"tier\": \"" + tier + "\", \"mix\": \"R\", \"load_threads\": 8, \"points\": [" +
         "{\"delay\": 0, \"latency_ns\": " + std::to_string(idle_ns * 3) +
         ", \"bw_MBps\": 40000}, [500, " + std::to_string(idle_ns) + ", 9000]]}";
}

bool has(const Document& document, const std::string& rule, const std::string& subject) {
  const auto in = [&](const Flags& flags) {
    return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) {
      return flag.rule == rule && flag.severity == Severity::invalid && flag.subject == subject;
    });
  };
  return in(document.flags) || std::any_of(document.cells.begin(), document.cells.end(),
                                           [&](const Cell& cell) { return in(cell.flags); });
}

TEST_F(CurvesFile, ImpossiblePointsInCurvesAreFlagged) {
  const Document document =
      read("{\"curves\": [" + curve("dram-local-snc", 96.2) + "," +
           curve("dram-remote-socket", 74) + "," + curve("cxl-local-socket", 16.3) + "]}");
  EXPECT_TRUE(has(document, "latency_floor", "cxl idle"));
  EXPECT_TRUE(has(document, "latency_order", "cxl idle"));
  EXPECT_TRUE(has(document, "latency_order", "remote idle"));
  EXPECT_FALSE(has(document, "latency_floor", "local idle"));
  EXPECT_EQ(document.cells.size(), 6u);
  EXPECT_EQ(document.cells.back().companion.median, 40);  // GB/s, at the highest load
}

TEST_F(CurvesFile, SoundCurvesAreNot) {
  const Document document =
      read("{\"curves\": [" + curve("dram-local", 96) + "," + curve("cxl-local", 244) + "]}");
  EXPECT_TRUE(document.flags.empty());
  for (const Cell& cell : document.cells) EXPECT_TRUE(cell.flags.empty());
}

TEST_F(CurvesFile, WhatIsNoSuchFileIsRefusedWithThePlaceAndTheCause) {
  const auto holds = [&](const std::string& text, const std::string& part) {
    const std::string said = fault(text);
    return said.find("--reference: " + folder_ + "/curves.json: ") == 0 &&
           said.find(part) != std::string::npos;
  };
  EXPECT_TRUE(holds("{", "is not JSON, or was cut off"));
  EXPECT_TRUE(holds("[]", "is JSON, but no object"));
  EXPECT_TRUE(holds("{}", "has no list \"curves\""));
  EXPECT_TRUE(holds("{\"curves\": [3]}", "curve 0: is no object"));
  EXPECT_TRUE(holds("{\"curves\": [" + curve("tape", 5) + "]}", "curve 0: unknown tier 'tape'"));
  EXPECT_TRUE(holds("{\"curves\": [{\"tier\": \"cxl-local\", \"threads\": 1}]}", "has no \"mix\""));
  const std::string head = "{\"curves\": [{\"tier\": \"cxl-local\", \"mix\": \"R\", \"threads\": ";
  EXPECT_TRUE(holds(head + "-1}]}", "curve 0, threads: not a number from 0"));
  EXPECT_TRUE(holds(head + "1}]}", "curve 0: has no list \"points\""));
  EXPECT_TRUE(holds(head + "1, \"points\": []}]}", "curve 0: has no points"));
  EXPECT_TRUE(holds(head + "1, \"points\": [[1, 2]]}]}", "curve 0, point 0: is neither"));
  EXPECT_TRUE(holds(head + "1, \"points\": [[1, \"x\", 3]]}]}", "point 0, latency: not a number"));
  EXPECT_TRUE(
      holds(head + "1, \"points\": [[1, 2, 3]]}], \"outside\": [{}]}", "outside 0: unknown"));
}

TEST_F(CurvesFile, AFileThatIsNotThereIsNamed) {
  try {
    (void)read_reference("/absent/curves.json");
    FAIL() << "it was read";
  } catch (const std::invalid_argument& wrong) {
    EXPECT_STREQ(wrong.what(),
                 "--reference: cannot read /absent/curves.json: No such file or directory");
  }
}

}  // namespace
}  // namespace cxltier::bench
