// SPDX-License-Identifier: Apache-2.0
//
// From cells to `key value` lines: per memory node the figures from its nearest CPUs.
#include "bench/tier/result/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cxltier::bench {
namespace {

constexpr std::size_t cpu_name_most = 63;  // as runtime/topology/machine_profile.h keeps it

// Keeps the better of two figures for one key: the nearest CPUs'.
struct Best {
  std::map<std::string, double> lines;
  std::map<std::string, double> curves;

  void keep(const std::string& key, double value, Better better) {
    const auto [at, is_new] = lines.emplace(key, value);
    if (is_new) return;
    at->second =
        better == Better::lower ? std::min(at->second, value) : std::max(at->second, value);
  }
};

void keep_cell(const Cell& cell, Best& best) {
  if (cell.nodes.size() != 1 || cell.summary.count == 0) return;
  if (!cell.flags.empty() && worst_of(cell.flags) == Severity::invalid) return;
  const std::string node = fmt::format("node.{}", cell.nodes.front());
  const double value = cell.summary.median;
  if (cell.mode == "latency" && cell.id.ends_with("/page_local/1")) {
    best.keep(node + ".latency_ns", value, Better::lower);
  }
  if (cell.mode == "bandwidth" || cell.mode == "peak") {
    best.keep(fmt::format("{}.bandwidth_gbps.{}", node, cell.mix), value, Better::higher);
  }
  if (cell.mode == "curve" && cell.delay >= 0) {
    best.curves[fmt::format("{}.curve.{}.d{:05}", node, cell.mix, cell.delay)] = value;
    best.curves[fmt::format("{}.curve.{}.d{:05}.gbps", node, cell.mix, cell.delay)] =
        cell.companion.median;
  }
}

std::string weights_line(const Cell& cell) {
  std::string list;
  for (const int node : cell.nodes) {
    const auto weight = cell.extra.find(fmt::format("weight_node{}", node));
    if (weight == cell.extra.end()) continue;
    if (!list.empty()) list += ',';
    list += fmt::format("{}:{:.0f}", node, weight->second);
  }
  return fmt::format("weights.{} {}\n", cell.mix, list);
}

}  // namespace

bool has_figures(const std::string& profile) {
  for (const char* const key : {".latency_ns ", ".bandwidth_gbps.", "weights."}) {
    if (profile.find(key) != std::string::npos) return true;
  }
  return false;
}

std::string profile_of(const Document& document) {
  std::string out =
      fmt::format("cxltier-profile 1\n# measured {} on {}, Linux {}{}\n", document.started,
                  document.machine.cpu_model, document.machine.kernel,
                  document.machine.emulated ? "; emulated, not representative" : "");
  const std::string& cpu = document.machine.cpu_model;
  out += fmt::format("machine.cpu {}\n", cpu.empty() ? "-" : cpu.substr(0, cpu_name_most));
  for (const MachineNode& node : document.machine.nodes) {
    out += fmt::format("node.{0}.kind {1}\nnode.{0}.bytes {2}\n", node.id, node.kind, node.bytes);
  }
  Best best;
  for (const Cell& cell : document.cells) keep_cell(cell, best);
  for (const auto& [key, value] : best.lines) out += fmt::format("{} {:.3f}\n", key, value);
  for (const Cell& cell : document.cells) {
    if (cell.mode == "interleave" && cell.id.ends_with("/best")) out += weights_line(cell);
  }
  // Curves last: they may be longer than what a reader in a hurry looks at.
  for (const auto& [key, value] : best.curves) out += fmt::format("{} {:.3f}\n", key, value);
  return out;
}

}  // namespace cxltier::bench
