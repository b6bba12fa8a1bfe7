// SPDX-License-Identifier: Apache-2.0
//
// Checks, table and report.json; see the header.
#include "bench/redis_demo/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace cxltier::demo {
namespace {

using nlohmann::ordered_json;

constexpr double by_hand_ratio_min = 0.85;
constexpr double split_ratio_min = 2;
constexpr double hot_share_min = 0.97;
constexpr double budget_excess_max = 0.02;

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

const RowResult* find_row(const std::vector<RowResult>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const RowResult& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

double rate_of(const RowResult& row) { return median_of(row, Figure::requests_per_s); }

Check rate_check(const RowResult& tiered, const RowResult& other, double ratio_min) {
  const double other_rate = rate_of(other);
  const double ratio = other_rate > 0 ? rate_of(tiered) / other_rate : 0;
  Check check{"cxltier_over_" + other.name, ratio, ratio_min, ratio >= ratio_min, ""};
  check.text = format("%.0f requests/s are %.2f times the %.0f of %s; at least %.2f times needed",
                      rate_of(tiered), ratio, other_rate, other.name.c_str(), ratio_min);
  return check;
}

Check hot_share_check(const RowResult& tiered) {
  const double share = tiered.hot_dram_page_share;
  return {"hot_pages_on_dram", share, hot_share_min, share >= hot_share_min,
          format("%.1f %% of the hot values' pages are on DRAM; at least %.1f %% needed",
                 share * 100, hot_share_min * 100)};
}

Check budget_check(const RowResult& tiered, std::uint64_t budget_bytes) {
  const double share = static_cast<double>(tiered.dram_bytes) / static_cast<double>(budget_bytes);
  const double bound = 1 + budget_excess_max;
  return {"dram_within_budget", share, bound, share <= bound,
          format("%.1f MiB on DRAM are %.3f of the budget; at most %.2f allowed",
                 static_cast<double>(tiered.dram_bytes) / 1048576, share, bound)};
}

Check digest_check(const std::vector<RowResult>& rows) {
  Check check{"digests_equal", 0, 0, true, ""};
  for (const RowResult& row : rows) {
    const bool equal = !row.digest.empty() && row.digest == rows.front().digest;
    if (!equal) check.value += 1;
    check.text += row.name + " " + row.digest + "; ";
  }
  check.ok = check.value == 0;
  check.text += "all must be equal";
  return check;
}

ordered_json rounds_json(const RowResult& row) {
  ordered_json rounds = ordered_json::array();
  for (const RoundResult& round : row.rounds) {
    rounds.push_back({{"settled", round.settled != 0},
                      {"settle_s", round.settle_s},
                      {"settle_bytes", round.settle_bytes},
                      {"placed_pages", round.placed_pages},
                      {"windows", round.windows}});
  }
  return rounds;
}

ordered_json row_json(const RowResult& row) {
  ordered_json windows = ordered_json::array();
  for (const WindowResult& window : row.windows) windows.push_back(window.requests_per_s);
  const RoundResult first = row.rounds.empty() ? RoundResult{} : row.rounds.front();
  return {{"requests_per_s", rate_of(row)},
          {"p50_ms", median_of(row, Figure::p50_ms)},
          {"p99_ms", median_of(row, Figure::p99_ms)},
          {"dram_page_share", row.dram_page_share},
          {"hot_dram_page_share", row.hot_dram_page_share},
          {"written_dram_page_share", row.written_dram_page_share},
          {"pages_promoted", row.pages_promoted},
          {"pages_demoted", row.pages_demoted},
          {"numa_pages_migrated", row.numa_pages_migrated},
          {"runtime_cpu_share", runtime_cpu_share(row)},
          {"settle_s", first.settle_s},
          {"settle_bytes", first.settle_bytes},
          {"digest", row.digest},
          {"numa_balancing", row.numa_balancing},
          {"dram_bytes", row.dram_bytes},
          {"refusals", row.refusals},
          {"over_limit_bytes_max", row.over_limit_bytes_max},
          {"settled_windows_requests_per_s", windows},
          {"stat", row.stat.empty() ? ordered_json() : ordered_json::parse(row.stat)},
          {"rounds", rounds_json(row)}};
}

ordered_json hand_tries_json(const Setup& setup) {
  ordered_json tries = ordered_json::array();
  for (const HandTryResult& hand_try : setup.hand_tries) {
    tries.push_back({{"on_dram_first", hand_try.name},
                     {"requests_per_s", hand_try.requests_per_s},
                     {"hot_dram_page_share", hand_try.hot_dram_page_share},
                     {"chosen", hand_try.name == setup.hand_best}});
  }
  return tries;
}

ordered_json setup_json(const Session& session, const Options& options) {
  const Setup& setup = session.setup();
  return {{"redis_version", setup.redis_version},
          {"kernel", setup.kernel},
          {"policy", options.policy},
          {"keys", session.dataset().keys},
          {"hot_keys", session.dataset().hot_keys},
          {"value_bytes", value_size},
          {"hot_request_share", hot_request_share},
          {"connections", connections},
          {"pipeline_depth", pipeline_depth},
          {"window_s", options.window_s},
          {"rounds", options.rounds},
          {"settle_max_s", options.settle_max_s},
          {"dram_nodes", session.nodes().dram},
          {"cxl_node", session.nodes().cxl},
          {"server_cpu", session.nodes().cpu_server},
          {"client_cpu", session.nodes().cpu_client},
          {"resident_bytes", setup.resident_bytes},
          {"tiered_resident_bytes", setup.tiered_resident_bytes},
          {"budget_bytes", setup.budget_bytes},
          {"dram_free_bytes", setup.dram_free_bytes},
          {"hot_value_pages", setup.hot_value_pages},
          {"hot_entries_found", setup.hot_entries_found},
          {"written_pages", setup.written_pages},
          {"load_s", setup.load_s}};
}

std::string gain_sentence(const std::vector<RowResult>& rows) {
  const RowResult* tiered = find_row(rows, "cxltier");
  const RowResult* split = find_row(rows, "static_split");
  const RowResult* hand = find_row(rows, "by_hand");
  if (tiered == nullptr || split == nullptr || hand == nullptr || rate_of(*split) <= 0 ||
      rate_of(*hand) <= 0) {
    return "These rows alone do not say what tiering gains.\n";
  }
  return format(
      "With %.0f %% of Redis's memory on DRAM, cxltier served %.0f requests/s: %.1f times "
      "the static split and %.0f %% of the best placement by hand.\n",
      tiered->dram_page_share * 100, rate_of(*tiered), rate_of(*tiered) / rate_of(*split),
      rate_of(*tiered) / rate_of(*hand) * 100);
}

}  // namespace

std::vector<Check> run_checks(const std::vector<RowResult>& rows, std::uint64_t budget_bytes) {
  std::vector<Check> checks = {digest_check(rows)};
  const RowResult* tiered = find_row(rows, "cxltier");
  if (tiered == nullptr) return checks;
  const RowResult* hand = find_row(rows, "by_hand");
  const RowResult* split = find_row(rows, "static_split");
  if (hand != nullptr) checks.push_back(rate_check(*tiered, *hand, by_hand_ratio_min));
  if (split != nullptr) checks.push_back(rate_check(*tiered, *split, split_ratio_min));
  checks.push_back(hot_share_check(*tiered));
  checks.push_back(budget_check(*tiered, budget_bytes));
  return checks;
}

std::string table_text(const std::vector<RowResult>& rows) {
  std::string text =
      format("%-17s %11s %8s %8s %6s %6s %9s %9s %8s %6s %8s\n", "row", "requests/s", "p50 ms",
             "p99 ms", "DRAM", "hot", "promoted", "demoted", "kernel", "CPU", "settle");
  std::vector<const RowResult*> sorted;
  for (const RowResult& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const RowResult* a, const RowResult* b) {
    return rate_of(*a) > rate_of(*b);
  });
  for (const RowResult* row : sorted) {
    text += format(
        "%-17s %11.0f %8.2f %8.2f %5.1f%% %5.1f%% %9llu %9llu %8llu %5.2f%% %6.1f s\n",
        row->name.c_str(), rate_of(*row), median_of(*row, Figure::p50_ms),
        median_of(*row, Figure::p99_ms), row->dram_page_share * 100, row->hot_dram_page_share * 100,
        static_cast<unsigned long long>(row->pages_promoted),
        static_cast<unsigned long long>(row->pages_demoted),
        static_cast<unsigned long long>(row->numa_pages_migrated), runtime_cpu_share(*row) * 100,
        row->rounds.empty() ? 0.0 : row->rounds.front().settle_s);
  }
  return text;
}

std::string closing_text(const std::vector<RowResult>& rows) {
  return gain_sentence(rows) +
         "The hot keys lie together because they were loaded one after the other; scattered hot "
         "keys need a per-page sensor.\n"
         "Figures from an emulated guest show the direction only, never a device's speed.\n";
}

std::string report_json(const Session& session, const Options& options,
                        const std::vector<Check>& checks) {
  ordered_json report;
  report["rows"] = ordered_json::object();
  for (const RowResult& row : session.rows()) {
    report["rows"][row.name] = row_json(row);
    if (row.name == "by_hand") {
      report["rows"][row.name]["tries"] = hand_tries_json(session.setup());
    }
  }
  report["checks"] = ordered_json::object();
  for (const Check& check : checks) {
    report["checks"][check.name] = {
        {"ok", check.ok}, {"value", check.value}, {"bound", check.bound}, {"text", check.text}};
  }
  report["setup"] = setup_json(session, options);
  return report.dump(2) + "\n";
}

}  // namespace cxltier::demo
