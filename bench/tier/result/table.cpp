// SPDX-License-Identifier: Apache-2.0
//
// Matrices where a mode has one, rows for all else; "?" marks a doubtful figure, "!" an invalid
// one.
#include "bench/tier/result/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace cxltier::bench {
namespace {

std::string mark_of(const Cell& cell) {
  if (cell.flags.empty()) return "";
  switch (worst_of(cell.flags)) {
    case Severity::invalid:
      return "!";
    case Severity::suspect:
      return "?";
    case Severity::note:
      return "";
  }
  return "";
}

std::string size_text(std::uint64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

void append_head(const Document& document, std::string& out) {
  const MachineRecord& machine = document.machine;
  const Settings& s = document.settings;
  if (machine.emulated) out += "EMULATED, NOT REPRESENTATIVE\n";
  if (!document.name.empty()) {
    out += fmt::format("published: {}\n{}\nsource: {}\nlicence: {}\n", document.name,
                       machine.cpu_model, document.source, document.licence);
    return;
  }
  out += fmt::format("{}, {} CPUs, {}, Linux {}, last-level cache {}\n",
                     machine.cpu_model.empty() ? machine.architecture : machine.cpu_model,
                     machine.cpus, size_text(machine.memory_bytes), machine.kernel,
                     machine.llc_bytes == 0 ? "not visible" : size_text(machine.llc_bytes));
  out += fmt::format(
      "{} loads, {} pages, {} rounds of {:g} ms, seed {}; reading the clock costs "
      "{:.1f} ns, which is subtracted\n",
      s.kernel, s.pages, s.rounds, s.sample_ms, s.seed, s.timer_cost_ns);
  if (s.llc_latency_ns > 0) {
    out += fmt::format("last-level cache answers in {:.1f} ns: the floor for every latency\n",
                       s.llc_latency_ns);
  }
}

const char* kind_of(const Document& document, int node) {
  for (const MachineNode& one : document.machine.nodes) {
    if (one.id == node) return one.kind.c_str();
  }
  return "";
}

// A matrix of cells with one CPU node and one memory node each.
void append_matrix(const Document& document, const std::string& title,
                   const std::vector<const Cell*>& cells, std::string& out) {
  std::set<int> rows;
  std::set<int> columns;
  for (const Cell* cell : cells) {
    rows.insert(cell->cpu_node);
    columns.insert(cell->nodes.front());
  }
  out += fmt::format("\n{}\n{:>10}", title, "CPU node");
  for (const int node : columns) {
    out += fmt::format("  {:>16}", fmt::format("node {} ({})", node, kind_of(document, node)));
  }
  out += '\n';
  for (const int row : rows) {
    out += fmt::format("{:>10}", row);
    for (const int column : columns) {
      const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell* cell) {
        return cell->cpu_node == row && cell->nodes.front() == column;
      });
      const std::string text =
          found == cells.end()
              ? "-"
              : fmt::format("{:.1f}{}", (*found)->summary.median, mark_of(**found));
      out += fmt::format("  {:>16}", text);
    }
    out += '\n';
  }
}

std::string row_title(const Cell& cell) {
  if (cell.companion_unit.empty()) return cell.unit;
  return fmt::format("{} | {}", cell.unit, cell.companion_unit);
}

void append_row(const Cell& cell, std::string& out) {
  const Summary& s = cell.summary;
  std::string line = fmt::format("  {:<44} {:>9.4g}{:<1} [{:.4g}, {:.4g}]", cell.label, s.median,
                                 mark_of(cell), s.interval.low, s.interval.high);
  if (!cell.companion_unit.empty()) {
    line.resize(std::max<std::size_t>(line.size(), 78), ' ');
    line += fmt::format(" | {:.4g}", cell.companion.median);
  }
  if (s.rejected > 0) line += fmt::format("  ({} of {} rejected)", s.rejected, cell.samples.size());
  out += line + "\n";
}

void append_distribution(const std::vector<const Cell*>& cells, std::string& out) {
  constexpr const char* names[] = {"p50_ns", "p90_ns", "p99_ns", "p99.9_ns", "p99.99_ns"};
  bool any = false;
  for (const Cell* cell : cells) {
    if (cell->extra.count("p50_ns") == 0) continue;
    if (!any) {
      out += fmt::format("\ndistribution, ns per load, over batches of 8\n  {:<44}", "");
      for (const char* const name : names) {
        const std::string_view word(name);
        out += fmt::format(" {:>8}", word.substr(0, word.size() - 3));
      }
      out += '\n';
      any = true;
    }
    out += fmt::format("  {:<44}", cell->label);
    for (const char* const name : names) out += fmt::format(" {:>8.1f}", cell->extra.at(name));
    out += '\n';
  }
}

std::vector<const Cell*> cells_where(const Document& document, auto&& wanted) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : document.cells) {
    if (wanted(cell)) cells.push_back(&cell);
  }
  return cells;
}

void append_latencies(const Document& document, std::string& out) {
  for (const char* const order : {"/page_local/1", "/whole/1"}) {
    const auto cells = cells_where(document, [&](const Cell& cell) {
      return cell.mode == "latency" && cell.id.ends_with(order);
    });
    if (cells.empty()) continue;
    const bool local = std::string(order) == "/page_local/1";
    append_matrix(document,
                  local ? "idle latency, ns (within groups of 64 pages)"
                        : "idle latency, ns (over the whole buffer: TLB misses included)",
                  cells, out);
  }
  append_distribution(cells_where(document, [](const Cell& c) { return c.mode == "latency"; }),
                      out);
}

void append_bandwidths(const Document& document, std::string& out) {
  std::vector<std::string> mixes;
  for (const Cell& cell : document.cells) {
    if (cell.mode != "bandwidth") continue;
    if (std::find(mixes.begin(), mixes.end(), cell.mix) == mixes.end()) mixes.push_back(cell.mix);
  }
  // Ids are sorted by CPU node and node, so mixes come in their own order already.
  for (const std::string& mix : mixes) {
    append_matrix(
        document,
        mix == "R" ? std::string("bandwidth, GB/s, reads only (R)")
                   : fmt::format("bandwidth, GB/s of memory traffic, mix {} (read for ownership "
                                 "counted)",
                                 mix),
        cells_where(document,
                    [&](const Cell& cell) { return cell.mode == "bandwidth" && cell.mix == mix; }),
        out);
  }
}

bool has_matrix(const Cell& cell) {
  if (cell.mode == "bandwidth") return true;
  return cell.mode == "latency" && cell.id.ends_with("/1");
}

void append_rows(const Document& document, std::string& out) {
  std::string title;
  for (const Cell& cell : document.cells) {
    if (has_matrix(cell)) continue;
    const std::string own = fmt::format("{}, {}", cell.mode, row_title(cell));
    if (own != title) {
      title = own;
      out += fmt::format("\n{}\n", title);
    }
    append_row(cell, out);
  }
}

// What one sentence is said of, without repeats.
std::string subjects_text(const std::vector<std::string>& subjects) {
  constexpr std::size_t named_most = 3;
  const std::size_t named = std::min(subjects.size(), named_most);
  std::string text = fmt::format("{}", fmt::join(subjects.begin(), subjects.begin() + named, "; "));
  if (subjects.size() > named) text += fmt::format("; and {} more", subjects.size() - named);
  return text;
}

// The worst first; figures that share a flaw share its line.
void append_flags(const Document& document, std::string& out) {
  std::map<std::tuple<int, std::string, std::string>, std::vector<std::string>> said;
  const auto add = [&](const Flags& flags) {
    for (const Flag& flag : flags) {
      auto& subjects = said[{-static_cast<int>(flag.severity), flag.rule, flag.text}];
      if (std::find(subjects.begin(), subjects.end(), flag.subject) == subjects.end()) {
        subjects.push_back(flag.subject);
      }
    }
  };
  add(document.flags);
  for (const Cell& cell : document.cells) add(cell.flags);
  if (said.empty()) return;
  out += "\n! invalid, ? doubtful:\n";
  for (const auto& [what, subjects] : said) {
    const auto& [severity, rule, text] = what;
    out += fmt::format("{}: {} ({}): {}\n", name_of(static_cast<Severity>(-severity)),
                       subjects_text(subjects), rule, text);
  }
}

}  // namespace

std::string table_of(const Document& document) {
  std::string out;
  append_head(document, out);
  append_latencies(document, out);
  append_bandwidths(document, out);
  append_rows(document, out);
  if (!document.findings.empty()) out += '\n';
  for (const std::string& finding : document.findings) out += finding + "\n";
  append_flags(document, out);
  if (!document.uncertainties.empty()) out += '\n';
  for (const std::string& line : document.uncertainties) {
    out += fmt::format("uncertain: {}\n", line);
  }
  return out;
}

}  // namespace cxltier::bench
