// SPDX-License-Identifier: Apache-2.0
//
// The text form of `cxltier topo`: tiers, nodes, distances, and what is odd about them.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "runtime/cli/topo_view.h"
#include "runtime/topology/platform/printable.h"

namespace cxltier {
namespace {

std::string number_text(std::uint64_t value, std::string_view unit) {
  return value == 0 ? "-" : fmt::format("{}{}", value, unit);
}

// A star marks what was measured here; the rest is firmware's.
std::string figure_text(std::uint64_t value, std::string_view unit, PerformanceSource source) {
  return number_text(value, unit) + (source == PerformanceSource::measured ? "*" : "");
}

std::string shortened(const std::string& text, std::size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

std::string tier_text(TierIndex tier) {
  return tier == tier_none ? "-" : fmt::format("{}", index_of(tier));
}

std::string clause_of(const Finding& finding) {
  std::string text = text_of(finding.kind);
  if (const std::size_t at = text.find('%'); at != std::string::npos) {
    text.replace(at, 1, fmt::format("{}", finding.value));
  }
  return text;
}

void append_tiers(const TopoView& view, std::string& out) {
  const Machine& machine = view.reading.machine;
  if (view.tiers.tier_count == 0) out += "no tiers: no node is known to be DRAM or CXL\n";
  for (std::size_t tier = 0; tier < view.tiers.tier_count; ++tier) {
    std::string nodes;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < machine.node_count; ++i) {
      if (index_of(view.tiers.tier_of[i]) != tier) continue;
      nodes += fmt::format("{}{} ({})", nodes.empty() ? "" : ", ", index_of(machine.nodes[i].id),
                           name_of(machine.nodes[i].kind));
      bytes += machine.nodes[i].size.count;
    }
    out += fmt::format("tier {}: {}, node {}\n", tier, capacity_text(bytes), nodes);
  }
  if (view.tiers.tier_count == 1) out += "one tier: there is nothing to move\n";
}

void append_nodes(const TopoView& view, std::string& out) {
  constexpr std::string_view row = "{:>4}  {:<10}  {:>4}  {:<20}  {:>10}  {:>9}  {:>12}\n";
  const Machine& machine = view.reading.machine;
  out += fmt::format(fmt::runtime(row), "node", "kind", "tier", "CPUs", "size", "read lat.",
                     "read bandw.");
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const Node& node = machine.nodes[i];
    const std::string cpus = node.cpu_count == 0
                                 ? std::string("-")
                                 : fmt::format("{}: {}", node.cpu_count, view.cpu_lists[i]);
    out += fmt::format(
        fmt::runtime(row), index_of(node.id), name_of(node.kind), tier_text(view.tiers.tier_of[i]),
        shortened(cpus, 20), capacity_text(node.size.count),
        figure_text(node.performance.read_latency_ns, " ns", node.performance.latency_source),
        figure_text(node.performance.read_bandwidth_mbps, " MB/s",
                    node.performance.bandwidth_source));
  }
}

void append_profile(const ProfileReading& reading, std::string& out) {
  if (!reading.ok()) return;
  const MachineProfile& profile = reading.profile;
  const auto nodes = std::span(profile.nodes).first(profile.node_count);
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const ProfileNode& node) {
    return node.latency_ns != 0 || node.read_mbps != 0;
  });
  if (any) {
    out += fmt::format("* measured, from {}; figures without * are firmware's\n",
                       printable(reading.path));
  }
  for (std::size_t mix = 0; mix < profile.mix_count; ++mix) {
    std::string weights;
    for (std::size_t i = 0; i < profile.node_count; ++i) {
      const std::uint8_t weight = profile.weights[mix].weight[i];
      if (weight == 0) continue;
      weights += fmt::format("{}node {}: {}", weights.empty() ? "" : ", ",
                             index_of(profile.nodes[i].id), weight);
    }
    out += fmt::format("interleave weights for {}: {}\n",
                       printable(profile.weights[mix].mix.data()), weights);
  }
}

void append_distances(const Machine& machine, std::string& out) {
  out += "distance";
  for (std::size_t j = 0; j < machine.node_count; ++j) {
    out += fmt::format(" {:>4}", index_of(machine.nodes[j].id));
  }
  out += '\n';
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    out += fmt::format("{:>8}", index_of(machine.nodes[i].id));
    for (std::size_t j = 0; j < machine.node_count; ++j) {
      out += fmt::format(" {:>4}", number_text(machine.distance[i][j], ""));
    }
    out += '\n';
  }
}

bool is_same_note(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.value == b.value && a.node != node_none && b.node != node_none;
}

// What holds for several nodes is said once: "nodes 0, 1, 4: ...".
void append_notes(const Findings& findings, std::string& out) {
  const std::span<const Finding> list = findings.list();
  for (std::size_t first = 0; first < list.size();) {
    std::vector<std::size_t> nodes;
    std::size_t next = first;
    do {
      nodes.push_back(index_of(list[next++].node));
    } while (next < list.size() && is_same_note(list[first], list[next]));
    out += nodes.size() == 1 ? fmt::format("note: {}\n", sentence_of(list[first]))
                             : fmt::format("note: nodes {}: {}\n", fmt::join(nodes, ", "),
                                           clause_of(list[first]));
    first = next;
  }
  if (findings.dropped() > 0) out += fmt::format("note: and {} more\n", findings.dropped());
}

}  // namespace

std::string capacity_text(std::uint64_t bytes) {
  constexpr double mib = 1024.0 * 1024.0;
  const double value = static_cast<double>(bytes);
  return value < 1024 * mib ? fmt::format("{:.0f} MiB", value / mib)
                            : fmt::format("{:.1f} GiB", value / mib / 1024);
}

std::string sentence_of(const Finding& finding) {
  if (finding.node == node_none) return clause_of(finding);
  return fmt::format("node {}: {}", index_of(finding.node), clause_of(finding));
}

std::string table_of(const TopoView& view) {
  std::string out;
  append_tiers(view, out);
  out += '\n';
  append_nodes(view, out);
  append_profile(view.profile, out);
  out += '\n';
  append_distances(view.reading.machine, out);
  out += devices_text(view);
  append_notes(view.reading.findings, out);
  return out;
}

}  // namespace cxltier
