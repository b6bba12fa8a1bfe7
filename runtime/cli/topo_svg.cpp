// SPDX-License-Identifier: Apache-2.0
//
// The picture of `cxltier topo --svg`: boxes in boxes, a column for each node with CPUs.
//
//   +- node 0, dram ----+  +- node 1, dram ----+     memory without CPUs stands below the CPUs that
//   | CPUs 0-1          |  | CPUs 2-3          |     it is nearest to, with its devices inside;
//   | eth0 ...          |  +-------------------+     what belongs to no node stands in a column of
//   | +- node 2, cxl -+ |                            its own
//   | | mem0 ...      | |
//   | +---------------+ |
//   +-------------------+
//
// Text is the only thing that comes from outside, and every byte of it is escaped.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cli/topo_view.h"
#include "runtime/topology/platform/printable.h"

namespace cxltier {
namespace {

// Pixels.  A character of the monospace font that the picture asks for is 0.6 em wide.
constexpr std::size_t line_height = 17;
constexpr std::size_t char_width = 8;
constexpr std::size_t padding = 8;
constexpr std::size_t columns_max = 4;  // in a row, as wide as a screen

struct SvgBox {
  std::string_view fill;
  std::vector<std::string> lines;
  std::vector<SvgBox> inside;
  bool is_alarming = false;  // drawn with a red frame

  [[nodiscard]] std::size_t width() const {
    std::size_t widest = 0;
    for (const std::string& line : lines) widest = std::max(widest, line.size() * char_width);
    for (const SvgBox& box : inside) widest = std::max(widest, box.width());
    return widest + 2 * padding;
  }
  [[nodiscard]] std::size_t height() const {
    std::size_t sum = padding + lines.size() * line_height + padding / 2;
    for (const SvgBox& box : inside) sum += box.height() + padding;
    return sum;
  }
};

std::string_view fill_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::dram:
      return "#f2e3e0";
    case NodeKind::cxl:
      return "#d6e6f5";
    case NodeKind::hbm:
      return "#fbe7c6";
    case NodeKind::gpu:
      return "#dcefd8";
    case NodeKind::persistent:
      return "#e7dcf0";
    case NodeKind::unknown:
      break;
  }
  return "#e6e6e6";
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

SvgBox memory_box(const TopoView& view, const CxlMemdev& memory) {
  SvgBox box{.fill = "#ffffff", .lines = {}, .inside = {}};
  box.lines.push_back(fmt::format("{} {}", memory.name, memory.host));
  if (memory.serial) box.lines.push_back(fmt::format("serial {:#x}", *memory.serial));
  box.lines.push_back(capacity_text(memory.ram_size + memory.pmem_size) +
                      (memory.is_enabled ? "" : ", disabled"));
  const PciFunction* function = view.platform.pci.find(memory.host);
  const auto link = function == nullptr ? std::nullopt : view.platform.pci.link_of(*function);
  if (link) box.lines.push_back(link_words(link));
  const CxlRegion* region = view.platform.cxl.region_of(memory.name);
  box.lines.push_back(region == nullptr ? "in no region" : "in " + region->name);
  box.is_alarming = region == nullptr || (link && link->is_degraded);
  return box;
}

SvgBox io_box(const IoDevice& device) {
  SvgBox box{.fill = "#e3efc8", .lines = {}, .inside = {}};
  box.lines.push_back(fmt::format("{} {} {}", device.kind, device.name, device.address));
  if (device.link) box.lines.push_back(link_words(device.link));
  if (device.wire_mbps > 0) {
    box.lines.push_back(fmt::format("wire {} Gb/s{}", static_cast<double>(device.wire_mbps) / 1000,
                                    device.is_limited_by_slot() ? ": its slot is slower" : ""));
  }
  box.is_alarming = device.is_limited_by_slot();
  return box;
}

SvgBox node_box(const TopoView& view, std::size_t position) {
  const Node& node = view.reading.machine.nodes[position];
  const TierIndex tier = view.tiers.tier_of[position];
  SvgBox box{.fill = fill_of(node.kind), .lines = {}, .inside = {}};
  box.lines.push_back(
      fmt::format("node {}: {}, {}", index_of(node.id), name_of(node.kind),
                  tier == tier_none ? "no tier" : fmt::format("tier {}", index_of(tier))));
  std::string figures = capacity_text(node.size.count);
  const NodePerformance& performance = node.performance;
  if (performance.read_latency_ns > 0)
    figures += fmt::format(", {} ns", performance.read_latency_ns);
  if (performance.read_bandwidth_mbps > 0)
    figures += fmt::format(", {} MB/s", performance.read_bandwidth_mbps);
  box.lines.push_back(figures);
  if (node.cpu_count > 0)
    box.lines.push_back(fmt::format("{} CPUs: {}", node.cpu_count, view.cpu_lists[position]));
  for (const CxlMemory& device : view.memory_devices[position]) {
    const CxlMemdev* memory = view.platform.cxl.memory(device.name);
    if (memory != nullptr) box.inside.push_back(memory_box(view, *memory));
  }
  for (const IoDevice& device : view.io) {
    if (device.node == static_cast<std::int64_t>(index_of(node.id)))
      box.inside.push_back(io_box(device));
  }
  return box;
}

// The node with CPUs that is nearest to a node without; nodes_max if none has CPUs.
std::size_t home_of(const Machine& machine, std::size_t position) {
  std::size_t home = nodes_max;
  std::uint32_t least = ~0u;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].cpu_count == 0) continue;
    const std::uint32_t distance = machine.distance[i][position];
    if (home == nodes_max || (distance != 0 && distance < least)) {
      home = i;
      least = distance == 0 ? ~0u : distance;
    }
  }
  return home;
}

bool is_behind_a_node(const TopoView& view, const CxlMemdev& memory) {
  return std::any_of(
      view.memory_devices.begin(), view.memory_devices.end(), [&](const auto& devices) {
        return std::any_of(devices.begin(), devices.end(),
                           [&](const CxlMemory& device) { return device.name == memory.name; });
      });
}

// What hangs on no node that is shown.
SvgBox box_of_the_rest(const TopoView& view) {
  SvgBox rest{.fill = "#f7f7f7", .lines = {"behind no node"}, .inside = {}};
  for (const CxlMemdev& memory : view.platform.cxl.memories) {
    if (!is_behind_a_node(view, memory)) rest.inside.push_back(memory_box(view, memory));
  }
  for (const IoDevice& device : view.io) {
    if (view.platform.node(device.node) == nullptr) rest.inside.push_back(io_box(device));
  }
  return rest;
}

std::vector<SvgBox> columns_of(const TopoView& view) {
  const Machine& machine = view.reading.machine;
  std::vector<SvgBox> columns;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (machine.nodes[i].cpu_count == 0 && home_of(machine, i) != nodes_max) continue;
    SvgBox column = node_box(view, i);
    for (std::size_t j = 0; j < machine.node_count; ++j) {
      if (machine.nodes[j].cpu_count > 0 || home_of(machine, j) != i) continue;
      SvgBox below = node_box(view, j);
      below.lines.push_back(fmt::format("distance {}", machine.distance[i][j]));
      column.inside.push_back(std::move(below));
    }
    columns.push_back(std::move(column));
  }
  SvgBox rest = box_of_the_rest(view);
  if (!rest.inside.empty()) columns.push_back(std::move(rest));
  return columns;
}

void draw(const SvgBox& box, std::size_t x, std::size_t y, std::size_t width, std::string& out) {
  out += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
      width, box.height(), box.fill, box.is_alarming ? "#c00000" : "#606060");
  y += padding / 2;
  for (const std::string& line : box.lines) {
    y += line_height;
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + padding, y, xml_text(line));
  }
  y += padding;
  for (const SvgBox& inner : box.inside) {
    draw(inner, x + padding, y, width - 2 * padding, out);
    y += inner.height() + padding;
  }
}

}  // namespace

std::string picture_of(const TopoView& view) {
  const std::vector<SvgBox> columns = columns_of(view);
  std::string shapes;
  std::size_t right = 0;
  std::size_t top = padding;
  for (std::size_t first = 0; first < columns.size(); first += columns_max) {
    const std::size_t last = std::min(first + columns_max, columns.size());
    std::size_t left = padding;
    std::size_t tallest = 0;
    for (std::size_t i = first; i < last; ++i) {
      draw(columns[i], left, top, columns[i].width(), shapes);
      left += columns[i].width() + padding;
      tallest = std::max(tallest, columns[i].height());
    }
    top += tallest + padding;
    right = std::max(right, left);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"13\">\n"
      "<title>Memory of this machine, by cxltier topo</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      right, top, shapes);
}

}  // namespace cxltier
