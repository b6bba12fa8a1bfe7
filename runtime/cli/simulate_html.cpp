// SPDX-License-Identifier: Apache-2.0
//
// `simulate` as one HTML page: a table, and four charts over time in which all policies share the
// axes.  Plain SVG, so that it opens anywhere and prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "runtime/cli/simulate_view.h"

namespace cxltier {
namespace {

using simulator::CellRow;
using simulator::TimePoint;

constexpr double chart_width = 960;
constexpr double chart_height = 220;
constexpr double margin_left = 64;
constexpr double margin_bottom = 28;
constexpr double margin_top = 12;

// Told apart by people who do not tell red from green (Okabe and Ito's set), dashed from the ninth
// on.
constexpr std::array<const char*, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#7a5195", "#808080"};

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ink:#1d232b;--mute:#667;--line:#d5d9de;--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--mute:#99a;--line:#3a4048;--paper:#14171b}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
 max-width:1040px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin:1.6rem 0 .3rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line)}
td:first-child,th:first-child{text-align:left}
.key{display:inline-block;width:1.4em;height:0;border-top:3px solid;vertical-align:middle}
svg{width:100%;height:auto}text{fill:var(--mute);font-size:11px}
.grid{stroke:var(--line);stroke-width:1}.run{fill:none;stroke-width:1.8;stroke-linejoin:round}
p{color:var(--mute)}
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string stroke_of(std::size_t index) {
  return fmt::format("stroke=\"{}\"{}", colours[index % colours.size()],
                     index >= colours.size() ? " stroke-dasharray=\"6 4\"" : "");
}

struct Chart {
  std::string title;
  std::string unit;
  std::function<double(const TimePoint&)> value;
};

// 1, 2 or 5 times a power of ten, so that four to nine steps reach `top`.
double step_for(double top) {
  double step = 1e-6;
  while (step * 10 < top) step *= 10;
  if (top / step > 5) return step * (top / step > 8 ? 2 : 1);
  return step / 2;
}

std::string grid_lines(double top, double end_s) {
  const double width = chart_width - margin_left;
  const double height = chart_height - margin_bottom - margin_top;
  std::string svg;
  const double step = step_for(top);
  for (double value = 0; value <= top * 1.0001; value += step) {
    const double y = margin_top + height * (1 - value / top);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>",
        margin_left, chart_width, y, margin_left - 6, y + 4, value);
  }
  const double step_s = step_for(end_s);
  for (double time = 0; time <= end_s * 1.0001; time += step_s) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g} s</text>",
                       margin_left + width * time / end_s, chart_height - 8, time);
  }
  return svg;
}

std::string chart_of(const ScenarioView& view, const Chart& chart) {
  double top = 1e-9;
  for (const CellRow& row : view.rows) {
    for (const TimePoint& point : row.outcome.timeline) top = std::max(top, chart.value(point));
  }
  top *= 1.05;
  const double width = chart_width - margin_left;
  const double height = chart_height - margin_bottom - margin_top;
  std::string svg = fmt::format(
      "<h2>{} <small>({})</small></h2>\n<svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">{}",
      escaped(chart.title), escaped(chart.unit), chart_width, chart_height, escaped(chart.title),
      grid_lines(top, view.duration_s));
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    svg += fmt::format("<polyline class=\"run\" {} points=\"", stroke_of(i));
    for (const TimePoint& point : view.rows[i].outcome.timeline) {
      svg += fmt::format("{:.1f},{:.1f} ", margin_left + width * point.time_s / view.duration_s,
                         margin_top + height * (1 - chart.value(point) / top));
    }
    svg += fmt::format("\"><title>{}</title></polyline>", escaped(view.rows[i].policy));
  }
  return svg + "</svg>\n";
}

std::string table_of(const ScenarioView& view) {
  std::string html =
      "<table><tr><th>policy</th><th>speed</th><th>of best</th><th>J, ns</th>"
      "<th>accesses on tier 0</th><th>moved, GB</th><th>of it steady</th></tr>\n";
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const simulator::Outcome& outcome = view.rows[i].outcome;
    html += fmt::format(
        "<tr><td><span class=\"key\" style=\"border-color:{};border-top-style:{}\"></span> {}</td>"
        "<td>{:.4f}</td><td>{:.1f} %</td><td>{:.1f}</td><td>{:.1f} %</td><td>{:.2f}</td>"
        "<td>{:.2f}</td></tr>\n",
        colours[i % colours.size()], i >= colours.size() ? "dashed" : "solid",
        escaped(view.rows[i].policy), outcome.steady_progress,
        100 * outcome.steady_progress / view.best_steady, outcome.mean_latency_ns,
        100 * outcome.steady_share[0], outcome.moved_bytes / 1e9, outcome.steady_moved_bytes / 1e9);
  }
  return html + "</table>\n";
}

}  // namespace

std::string simulate_html_of(const ScenarioView& view) {
  const std::array<Chart, 4> charts = {
      Chart{"Speed", "1: all memory on the fastest tier, alone",
            [](const TimePoint& point) { return point.progress; }},
      Chart{"Accesses on the fastest tier", "%",
            [](const TimePoint& point) { return 100 * point.share[0]; }},
      Chart{"Moved", "GB in each step",
            [](const TimePoint& point) { return point.moved_bytes / 1e9; }},
      Chart{"Mean loaded latency J", "ns",
            [](const TimePoint& point) { return point.mean_latency_ns; }}};
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n"
      "<p>{2:.1f} GiB, {3:.1f} GiB of it fast. Simulated; machine: {4}. Best: {5:.4f}, the best "
      "placement at no cost of migration. Figures from {6:.0f} s on.</p>\n",
      escaped(view.scenario), style, view.footprint_gib, view.fast_gib, escaped(view.source),
      view.best_steady, view.steady_from_s);
  html += table_of(view);
  for (const Chart& chart : charts) html += chart_of(view, chart);
  return html + "</body></html>\n";
}

}  // namespace cxltier
