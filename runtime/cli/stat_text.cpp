// SPDX-License-Identifier: Apache-2.0
//
// `cxltier stat` for people: tables, and the heat histogram as bars.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/cli/stat_view.h"
#include "runtime/topology/finding.h"

namespace cxltier {
namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};
constexpr std::size_t bins_per_row = 4;  // 16 rows fit on a small terminal
constexpr std::size_t bar_width = 40;

std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string pages_text(const StatView& view, std::uint64_t pages) {
  return fmt::format("{} pages ({})", pages, size_text(bytes_of_pages(view, pages)));
}

std::string seconds_text(std::uint64_t ns) {
  return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
}

std::string state_of(const StatView& view) {
  const TelemetryPage& page = view.page;
  std::string text =
      fmt::format("process {} ({}): {}", view.pid, view.program, name_of(page.state));
  if (page.reason.front() != '\0') text += fmt::format(": {}", page.reason.data());
  if (page.policy.front() != '\0') text += fmt::format("; policy {}", page.policy.data());
  if (page.updated_ns == 0) return text + "; not updated yet\n";
  return text + fmt::format("; updated {:.1f} s ago\n", static_cast<double>(age_ms_of(view)) / 1e3);
}

std::string node_rows(const StatView& view) {
  std::string text = "\nnode  kind        tier         pages        size\n";
  for (std::uint32_t i = 0; i < view.page.node_count; ++i) {
    const TelemetryNode& node = view.page.nodes[i];
    const bool has_tier = node.tier != static_cast<std::uint8_t>(tier_none);
    text += fmt::format("{:4}  {:10}  {:>4}  {:12}  {:>10}\n", node.id,
                        name_of(static_cast<NodeKind>(node.kind)),
                        has_tier ? std::to_string(node.tier) : "-", node.pages,
                        size_text(bytes_of_pages(view, node.pages)));
  }
  return text;
}

std::string latency_text(const TelemetryLatency& latency) {
  if (latency.idle_ps == 0) return "not probed";
  return fmt::format("{:.0f}, {:.0f} ns", latency.loaded_ps / 1e3, latency.idle_ps / 1e3);
}

std::string tier_rows(const StatView& view) {
  std::string text =
      "\ntier         pages        size       limit  over limit (max)  latency, idle\n";
  for (std::uint32_t i = 0; i < view.page.tier_count; ++i) {
    const TelemetryTier& tier = view.page.tiers[i];
    const bool limited = tier.limit_pages != unlimited;
    text += fmt::format("{:4}  {:12}  {:>10}  {:>10}  {:>16}  {:>13}\n", i, tier.pages,
                        size_text(bytes_of_pages(view, tier.pages)),
                        limited ? size_text(bytes_of_pages(view, tier.limit_pages)) : "none",
                        size_text(bytes_of_pages(view, tier.over_limit_pages_max)),
                        latency_text(view.page.latencies[i]));
  }
  return text;
}

std::string moves_of(const StatView& view) {
  const TelemetryPage& page = view.page;
  std::string text =
      fmt::format("\npromoted  {}\ndemoted   {}\nrefused  ", pages_text(view, page.pages_promoted),
                  pages_text(view, page.pages_demoted));
  for (std::size_t i = 0; i < refusal_kinds; ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", name_of(static_cast<Refusal>(i)),
                        page.pages_refused[i]);
  }
  return text + "\n";
}

std::string cost_of(const StatView& view) {
  const TelemetryPage& page = view.page;
  return fmt::format(
      "cpu       sensor {}, policy {}, mover {}, thread {} ({:.2f} % since start)\n"
      "scans     {} ticks, one in {:.0f} ms, {} unknown; longest call {:.0f} us\n"
      "memory    {} regions of {}; {} VMAs; runtime itself {}\n",
      seconds_text(page.sensor_cpu_ns), seconds_text(page.policy_cpu_ns),
      seconds_text(page.mover_cpu_ns), seconds_text(page.thread_cpu_ns), 100 * cpu_share_of(view),
      page.ticks, static_cast<double>(page.interval_ns) / 1e6, page.scans_unknown,
      static_cast<double>(page.call_ns_max) / 1e3, page.regions,
      pages_text(view, page.managed_pages), page.vmas, size_text(page.runtime_bytes));
}

constexpr std::array<const char*, 4> mode_names = {
    "steady", "following a change", "holding: moves did not pay", "measuring without moves"};

// Why pages are where they are, the most pages first.
std::string decision_rows(const StatView& view) {
  const TelemetryPage& page = view.page;
  if (page.ticks == 0) return {};
  const char* mode = page.mode < mode_names.size() ? mode_names[page.mode] : "unknown";
  std::string text =
      fmt::format("\npolicy    {}; {} changes, {} holds\n", mode, page.changes, page.holds);
  std::vector<std::size_t> order(verdict_count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return page.verdict_pages[a] > page.verdict_pages[b];
  });
  for (const std::size_t i : order) {
    if (page.verdict_pages[i] == 0) break;
    text += fmt::format("{:>12}  {}\n", page.verdict_pages[i], text_of(static_cast<Verdict>(i)));
  }
  return text;
}

// The rates of a row of four half-octave bins.
std::string rates_text(std::size_t row) {
  const double bound = std::ldexp(1.0, 2 * static_cast<int>(row) - 11);
  if (row == 0) return fmt::format("below {:.3g}", 4 * bound);
  return bound < 1e4 ? fmt::format("from {:.3g}", bound) : fmt::format("from {:.0f}", bound);
}

// Sums in floating point: the numbers of a page may be made up.
std::string heat_of(const StatView& view) {
  std::array<double, rate_bins / bins_per_row> rows{};
  for (std::size_t bin = 0; bin < rate_bins; ++bin) {
    rows[bin / bins_per_row] += static_cast<double>(view.page.heat_histogram[bin]);
  }
  const double most = *std::max_element(rows.begin(), rows.end());
  if (most <= 0) return "\nheat      nothing sensed yet\n";
  std::string text = "\ntouches/s per page       pages\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double width = static_cast<double>(bar_width) * rows[row] / most;
    const std::string bar(static_cast<std::size_t>(width + 0.5), '#');
    text += fmt::format("{:<16}  {:12.0f}  {}", rates_text(row), rows[row], bar);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string stat_text_of(const StatView& view) {
  if (view.page.ticks == 0 && view.page.node_count == 0) return state_of(view);  // nothing seen yet
  return state_of(view) + node_rows(view) + tier_rows(view) + moves_of(view) + cost_of(view) +
         decision_rows(view) + heat_of(view);
}

}  // namespace cxltier
