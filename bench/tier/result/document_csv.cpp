// SPDX-License-Identifier: Apache-2.0
//
// The CSV form of a document (RFC 4180): one line per cell, figures without units, units in
// columns.
#include <fmt/format.h>

#include "bench/tier/result/document.h"

namespace cxltier::bench {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

std::string number_or_nothing(int value) { return value < 0 ? "" : fmt::format("{}", value); }

std::string nodes_text(const std::vector<int>& nodes) {
  return fmt::format("{}", fmt::join(nodes, "+"));
}

}  // namespace

std::string csv_of(const Document& document) {
  std::string out =
      "id,mode,label,quantity,unit,median,ci95_low,ci95_high,companion_unit,companion_median,"
      "samples,rejected,cpu_node,nodes,mix,pages,threads,delay,severity,rules,emulated\r\n";
  for (const Cell& cell : document.cells) {
    std::vector<std::string> rules;
    for (const Flag& flag : cell.flags) rules.push_back(flag.rule);
    const bool two = !cell.companion_unit.empty();
    out += fmt::format(
        "{},{},{},{},{},{:.6g},{:.6g},{:.6g},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
        quoted(cell.id), cell.mode, quoted(cell.label), cell.quantity, cell.unit,
        cell.summary.median, cell.summary.interval.low, cell.summary.interval.high,
        cell.companion_unit, two ? fmt::format("{:.6g}", cell.companion.median) : "",
        cell.summary.count, cell.summary.rejected, number_or_nothing(cell.cpu_node),
        nodes_text(cell.nodes), cell.mix, cell.pages, cell.threads, number_or_nothing(cell.delay),
        cell.flags.empty() ? "" : name_of(worst_of(cell.flags)),
        quoted(fmt::format("{}", fmt::join(rules, " "))), document.machine.emulated);
  }
  return out;
}

}  // namespace cxltier::bench
