// SPDX-License-Identifier: Apache-2.0
//
// Medians, ratios, gates; as JSON and as a table.
#include "bench/allocator/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

namespace cxltier::bench {
namespace {

constexpr const char* ours = "cxltier";
constexpr const char* base = "jemalloc";

const CellRuns* cell(const AllRuns& runs, const char* load, const char* allocator) {
  const auto row = runs.find(load);
  if (row == runs.end()) return nullptr;
  const auto found = row->second.find(allocator);
  return found == row->second.end() ? nullptr : &found->second;
}

std::optional<double> instruction_ratio(const AllRuns& runs, const char* load) {
  const CellRuns* const mine = cell(runs, load, ours);
  const CellRuns* const theirs = cell(runs, load, base);
  if (mine == nullptr || theirs == nullptr || !mine->instructions || !theirs->instructions) {
    return std::nullopt;
  }
  return *mine->instructions / *theirs->instructions;
}

// How many times faster ours is than `other`, from paired rounds.
std::optional<double> speed_up(const AllRuns& runs, const char* load, const char* other) {
  const CellRuns* const mine = cell(runs, load, ours);
  const CellRuns* const theirs = cell(runs, load, other);
  if (mine == nullptr || theirs == nullptr) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(mine->ns_per_pair.size(), theirs->ns_per_pair.size()); ++i) {
    ratios.push_back(theirs->ns_per_pair[i] / mine->ns_per_pair[i]);
  }
  return median(std::move(ratios));
}

std::string formatted(const char* format, std::optional<double> value) {
  if (!value) return "-";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, *value);
  return text.data();
}

std::set<std::string> allocators_of(const AllRuns& runs) {
  std::set<std::string> names;
  for (const auto& [load, cells] : runs) {
    for (const auto& [allocator, one] : cells) names.insert(allocator);
  }
  return names;
}

// What the best of the others has; ours shall not be behind it.
std::optional<double> best_other_mean(const AllRuns& runs) {
  std::optional<double> best;
  for (const auto& [allocator, mean] : geometric_means(runs)) {
    if (allocator != ours && (!best || mean < *best)) best = mean;
  }
  return best;
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> ratio_to_jemalloc(const LoadRuns& load, const std::string& allocator) {
  const auto mine = load.find(allocator);
  const auto theirs = load.find(base);
  if (mine == load.end() || theirs == load.end()) return std::nullopt;
  const std::vector<double>& a = mine->second.ns_per_pair;
  const std::vector<double>& b = theirs->second.ns_per_pair;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
  return median(std::move(ratios));
}

std::map<std::string, double> geometric_means(const AllRuns& runs) {
  std::map<std::string, double> means;
  for (const std::string& allocator : allocators_of(runs)) {
    double logarithms = 0;
    int count = 0;
    for (const auto& [load, cells] : runs) {
      const std::optional<double> ratio = ratio_to_jemalloc(cells, allocator);
      if (!ratio) continue;
      logarithms += std::log(*ratio);
      ++count;
    }
    if (count > 0) means[allocator] = std::exp(logarithms / count);
  }
  return means;
}

std::vector<Gate> gates_of(const AllRuns& runs) {
  const std::map<std::string, double> means = geometric_means(runs);
  const auto mine = means.find(ours);
  const std::optional<double> best = best_other_mean(runs);
  std::optional<double> behind;
  if (mine != means.end() && best) behind = mine->second / *best;
  return {{"instructions of malloc + free, 64 B, by jemalloc's", instruction_ratio(runs, "pair_64"),
           1.12},
          {"instructions of new + sized delete, 64 B, by jemalloc's",
           instruction_ratio(runs, "new_delete_64"), 0.75},
          {"times faster than jemalloc, 200 KiB", speed_up(runs, "pair_200k", base), 5, true},
          {"times faster than libmemtier, 64 B", speed_up(runs, "pair_64", "libmemtier"), 4, true},
          {"geometric mean of times by the best other's", behind, 1.0}};
}

nlohmann::json json_of(const AllRuns& runs) {
  nlohmann::json cases = nlohmann::json::object();
  for (const auto& [load, cells] : runs) {
    for (const auto& [allocator, one] : cells) {
      nlohmann::json entry;
      const std::optional<double> ns = median(one.ns_per_pair);
      const std::optional<double> ratio = ratio_to_jemalloc(cells, allocator);
      if (one.instructions) entry["instructions_per_pair"] = *one.instructions;
      if (ns) entry["ns_per_pair_median"] = *ns;
      if (ratio) entry["ratio_to_jemalloc"] = *ratio;
      cases[load][allocator] = entry;
    }
  }
  nlohmann::json gates = nlohmann::json::array();
  for (const Gate& gate : gates_of(runs)) {
    if (!gate.value) continue;
    gates.push_back({{"name", gate.name},
                     {"value", *gate.value},
                     {gate.at_least ? "at_least" : "at_most", gate.limit},
                     {"held", gate.held()}});
  }
  return {{"cases", cases},
          {"geometric_mean_ratio_to_jemalloc", geometric_means(runs)},
          {"gates", gates}};
}

std::string table_of(const AllRuns& runs) {
  std::string text =
      "load              allocator     instructions    ns (median)    ns / jemalloc\n";
  std::array<char, 160> line{};
  for (const auto& [load, cells] : runs) {
    for (const auto& [allocator, one] : cells) {
      std::snprintf(line.data(), line.size(), "%-17s %-12s %13s %14s %16s\n", load.c_str(),
                    allocator.c_str(), formatted("%.1f", one.instructions).c_str(),
                    formatted("%.1f", median(one.ns_per_pair)).c_str(),
                    formatted("%.2f", ratio_to_jemalloc(cells, allocator)).c_str());
      text += line.data();
    }
  }
  for (const auto& [allocator, mean] : geometric_means(runs)) {
    std::snprintf(line.data(), line.size(), "%-17s %-12s %13s %14s %16.2f\n", "geometric mean",
                  allocator.c_str(), "", "", mean);
    text += line.data();
  }
  return text;
}

}  // namespace cxltier::bench
