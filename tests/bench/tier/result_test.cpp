// SPDX-License-Identifier: Apache-2.0
//
// What a document becomes: JSON and back, CSV, a comparison, a profile, a page.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/tier/reference/reference.h"
#include "bench/tier/result/comparison.h"
#include "bench/tier/result/html.h"
#include "bench/tier/result/profile.h"
#include "bench/tier/result/table.h"

namespace cxltier::bench {
namespace {

Cell cell_of(const std::string& id, const std::vector<double>& values) {
  Cell cell;
  cell.id = id;
  cell.mode = id.substr(0, id.find('/'));
  cell.label = id;
  cell.quantity = "latency";
  cell.unit = "ns";
  cell.cpu_node = 0;
  cell.nodes = {2};
  for (const double value : values) {
    Sample sample;
    sample.value = value;
    cell.samples.push_back(sample);
  }
  summarise(cell);
  return cell;
}

Document document_of(const std::vector<double>& values) {
  Document document;
  document.started = "2026-01-02T03:04:05Z";
  document.machine.cpu_model = "a \"CPU\" </script>";
  document.machine.nodes.push_back({2, "cxl", 1, 1 << 30, 0, 250, 20});
  document.cells.push_back(cell_of("latency/cpu0/node2/thp/page_local/1", values));
  return document;
}

TEST(Json, ComesBackAsItWent) {
  Document document = document_of({100, 101, 99});
  document.cells.front().samples[1].causes = {"steal"};
  document.cells.front().extra["p99_ns"] = 123.5;
  document.cells.front().flags = check_latency_floor("x", 10, 20);
  document.uncertainties = {"one"};
  std::string fault;
  const std::optional<Document> back = parse_document(json_of(document), fault);
  ASSERT_TRUE(back.has_value()) << fault;
  EXPECT_EQ(json_of(*back).size() > 100, true);
  EXPECT_EQ(back->started, document.started);
  EXPECT_EQ(back->machine.cpu_model, document.machine.cpu_model);
  EXPECT_EQ(back->machine.nodes.front().firmware_latency_ns, 250);
  const Cell& cell = back->cells.front();
  EXPECT_EQ(cell.id, document.cells.front().id);
  EXPECT_EQ(cell.summary.median, document.cells.front().summary.median);
  EXPECT_EQ(cell.samples[1].causes, std::vector<std::string>{"steal"});
  EXPECT_EQ(cell.extra.at("p99_ns"), 123.5);
  EXPECT_EQ(cell.flags.front().severity, Severity::invalid);
  EXPECT_EQ(back->uncertainties, document.uncertainties);
}

TEST(Json, WhatIsNotOursIsRefusedWithAReason) {
  std::string fault;
  EXPECT_FALSE(parse_document("{", fault).has_value());
  EXPECT_EQ(fault, "is not JSON, or was cut off");
  EXPECT_FALSE(parse_document("{\"schema\": \"x\"}", fault).has_value());
  EXPECT_NE(fault.find("cxltier-bench"), std::string::npos);
  EXPECT_FALSE(
      parse_document("{\"schema\": \"cxltier-bench\", \"version\": 9}", fault).has_value());
  EXPECT_NE(fault.find("version 9"), std::string::npos);
  // Wrong types inside are defaults, not exceptions.
  EXPECT_TRUE(parse_document("{\"schema\": \"cxltier-bench\", \"version\": 1, \"cells\": [3, "
                             "{\"summary\": 7, \"nodes\": [\"x\"], \"extra\": {\"a\": []}}], "
                             "\"machine\": []}",
                             fault)
                  .has_value());
}

TEST(Csv, HasOneLinePerCellAndQuotes) {
  Document document = document_of({100, 101, 99});
  document.cells.front().label = "a, \"b\"";
  const std::string csv = csv_of(document);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
  EXPECT_NE(csv.find("\"a, \"\"b\"\"\""), std::string::npos);
  const auto columns = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  const std::size_t end = csv.find('\n');
  EXPECT_EQ(columns(csv.substr(0, end)) + 1, columns(csv.substr(end + 1)));  // one comma is quoted
}

std::string change_between(const std::vector<double>& now, const std::vector<double>& before) {
  return name_of(compare(document_of(now), document_of(before)).front().change);
}

TEST(Comparison, AVerdictPerCell) {
  const std::vector<double> base = {100, 101, 99, 100, 100.5, 99.5, 100, 100.2, 99.8};
  std::vector<double> slower;
  std::vector<double> noisy;
  for (std::size_t i = 0; i < base.size(); ++i) {
    slower.push_back(base[i] * 1.2);
    noisy.push_back(base[i] * (i % 2 == 0 ? 0.8 : 1.3));
  }
  EXPECT_EQ(change_between(base, base), "same");
  EXPECT_EQ(change_between(slower, base), "worse");
  EXPECT_EQ(change_between(base, slower), "better");
  EXPECT_EQ(change_between(noisy, base), "unclear");
}

TEST(Comparison, AnInvalidFigureGetsNoVerdictAndAMissingOneIsNamed) {
  const Document base = document_of({100, 101, 99});
  Document marked = base;
  marked.cells.front().flags = check_latency_floor("x", 10, 20);
  EXPECT_EQ(compare(base, marked).front().change, Change::invalid);
  const Document empty;
  EXPECT_EQ(compare(base, empty).front().change, Change::missing);
  ASSERT_EQ(compare(empty, base).size(), 1u);
  EXPECT_NE(text_of(compare(base, empty), "x").find("1 missing"), std::string::npos);
  EXPECT_NE(text_of(compare(base, empty), "x").find(" missing before\n"), std::string::npos);
  EXPECT_NE(text_of(compare(empty, base), "x").find(" missing now\n"), std::string::npos);
}

TEST(Profile, HoldsWhatIsValidAndNothingElse) {
  Document document = document_of({251, 252, 253});
  EXPECT_NE(profile_of(document).find("node.2.latency_ns 252.000\n"), std::string::npos);
  EXPECT_NE(profile_of(document).find("node.2.kind cxl\n"), std::string::npos);
  document.cells.front().flags = check_latency_floor("x", 10, 20);
  EXPECT_EQ(profile_of(document).find("latency_ns"), std::string::npos);
  EXPECT_FALSE(has_figures(profile_of(document)));
  EXPECT_TRUE(has_figures(profile_of(document_of({251, 252, 253}))));
}

TEST(Table, FiguresThatShareAFlawShareItsLine) {
  Document document = document_of({100, 101, 99});
  for (int i = 0; i < 5; ++i) {
    document.flags.push_back({"samples", Severity::invalid, "n" + std::to_string(i), 0, 0, "busy"});
  }
  document.flags.push_back({"drift", Severity::note, "the run", 0, 0, "a little"});
  const std::string table = table_of(document);
  const std::size_t line = table.find("invalid: n0; n1; n2; and 2 more (samples): busy\n");
  ASSERT_NE(line, std::string::npos) << table;
  EXPECT_GT(table.find("note: the run (drift): a little\n"), line) << "the worst first";
}

TEST(Table, SaysEmulatedFirst) {
  Document document = document_of({100, 101, 99});
  document.machine.emulated = true;
  EXPECT_EQ(table_of(document).find("EMULATED, NOT REPRESENTATIVE"), 0u);
}

// The part between the tags must be JSON for the browser, whatever the machine is called.
TEST(Page, IsOneFileAndItsDataCannotLeaveTheirElement) {
  const std::vector<Document> references = {read_reference("intel-snc4-eurosys24")};
  const std::string page = html_of(document_of({100, 101, 99}), references);
  const std::string open = "<script type=\"application/json\" id=\"result-json\">";
  const std::size_t from = page.find(open) + open.size();
  const std::size_t to = page.find("</script>", from);
  const auto json = nlohmann::json::parse(page.substr(from, to - from));
  EXPECT_EQ(json.at("machine").at("cpu_model"), "a \"CPU\" </script>");
  EXPECT_EQ(page.find("@RESULT@"), std::string::npos);
  EXPECT_EQ(page.find("@REFERENCES@"), std::string::npos);
  for (const char* const outside : {"src=\"", "@import", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  // url(#name) is another part of the same page.
  for (std::size_t at = page.find("url("); at != page.npos; at = page.find("url(", at + 1)) {
    EXPECT_EQ(page.substr(at, 5), "url(#");
  }
}

// A ratio of pairs of which one half was disturbed would be one of disturbances.
TEST(Pairs, AreThoseThatCountOnBothSides) {
  Cell a = cell_of("a", {1, 2, 3, 4, 5});
  Cell b = cell_of("b", {10, 20, 30, 40, 50});
  a.samples[0].causes = {"steal"};
  b.samples[4].causes = {"migrated"};
  const Pairs pairs = pairs_of(a, b);
  EXPECT_TRUE(pairs.undisturbed);
  EXPECT_EQ(pairs.first, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(pairs.second, (std::vector<double>{20, 30, 40}));
}

TEST(Pairs, WhereTooFewCountAllAreUsedAndItIsSaid) {
  Cell cell = cell_of("a", {1, 2, 3, 4});
  for (std::size_t i = 0; i < cell.samples.size(); ++i) {
    cell.samples[i].companion = 2 * cell.samples[i].value;
    if (i > 1) cell.samples[i].causes = {"steal"};
  }
  const Pairs pairs = pairs_with_companion(cell);
  EXPECT_FALSE(pairs.undisturbed);
  EXPECT_EQ(pairs.second, (std::vector<double>{2, 4, 6, 8}));
}

}  // namespace
}  // namespace cxltier::bench
