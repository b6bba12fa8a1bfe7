// SPDX-License-Identifier: Apache-2.0
//
// Ratios of medians with bootstrap intervals, and their words.
#include "bench/tier/result/comparison.h"

#include <fmt/format.h>

#include <array>

namespace cxltier::bench {
namespace {

std::vector<double> values_of(const Cell& cell) {
  std::vector<double> values;
  for (const Sample& sample : cell.samples) {
    if (sample.counts()) values.push_back(sample.value);
  }
  // A published figure has no samples; its range stands for them.
  if (values.empty()) {
    values = {cell.summary.interval.low, cell.summary.median, cell.summary.interval.high};
  }
  return values;
}

bool is_invalid(const Cell& cell) {
  return !cell.flags.empty() && worst_of(cell.flags) == Severity::invalid;
}

Change change_of(const Cell& cell, const Ratio& ratio) {
  const bool lower_is_better = cell.better == Better::lower;
  switch (verdict_of(ratio, same_bound)) {
    case Verdict::same:
      return Change::same;
    case Verdict::higher:
      return lower_is_better ? Change::worse : Change::better;
    case Verdict::lower:
      return lower_is_better ? Change::better : Change::worse;
    case Verdict::unclear:
      return Change::unclear;
  }
  return Change::unclear;
}

}  // namespace

const char* name_of(Change change) noexcept {
  constexpr std::array names = {"same", "better", "worse", "unclear", "invalid", "missing"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<ComparedCell> compare(const Document& now, const Document& before) {
  std::vector<ComparedCell> compared;
  for (const Cell& cell : now.cells) {
    ComparedCell result;
    result.id = cell.id;
    result.label = cell.label;
    result.unit = cell.unit;
    result.now = cell.summary.median;
    const Cell* const other = before.find(cell.id);
    if (other == nullptr) {
      result.change = Change::missing;
    } else {
      result.before = other->summary.median;
      result.ratio = median_ratio(values_of(cell), values_of(*other), 1);
      const bool invalid = is_invalid(cell) || is_invalid(*other);
      result.change = invalid ? Change::invalid : change_of(cell, result.ratio);
    }
    compared.push_back(std::move(result));
  }
  for (const Cell& cell : before.cells) {
    if (now.find(cell.id) != nullptr) continue;
    compared.push_back(
        {cell.id, cell.label, 0, cell.summary.median, cell.unit, Ratio{}, Change::missing});
  }
  return compared;
}

std::string text_of(const std::vector<ComparedCell>& cells, const std::string& before_name) {
  std::array<std::size_t, 6> counts{};
  std::string out =
      fmt::format("\ncompared with {} (now / before, 95 % interval; same: within {:.0f} %)\n",
                  before_name, 100 * same_bound);
  for (const ComparedCell& cell : cells) {
    ++counts[static_cast<std::size_t>(cell.change)];
    if (cell.change == Change::missing) {
      out += fmt::format("  {:<44} missing {}\n", cell.label, cell.before > 0 ? "now" : "before");
      continue;
    }
    out += fmt::format("  {:<44} {:>9.4g} {:>9.4g} {:<6} {:>6.3f} [{:.3f}, {:.3f}]  {}\n",
                       cell.label, cell.now, cell.before, cell.unit, cell.ratio.value,
                       cell.ratio.interval.low, cell.ratio.interval.high, name_of(cell.change));
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0)
      words.push_back(fmt::format("{} {}", counts[i], name_of(static_cast<Change>(i))));
  }
  return out + fmt::format("  {}\n", fmt::join(words, ", "));
}

}  // namespace cxltier::bench
