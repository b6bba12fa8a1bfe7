// SPDX-License-Identifier: Apache-2.0
//
// From samples to summaries.
#include "bench/tier/result/document.h"

#include <algorithm>

namespace cxltier::bench {
namespace {

Flag unsound(const Cell& cell) {
  Flag flag;
  flag.rule = "samples";
  flag.severity = Severity::invalid;
  flag.subject = cell.label;
  flag.value = 0;
  flag.bound = 1;
  flag.text = "no sample was undisturbed: the figure is of disturbed ones";
  return flag;
}

Pairs pairs_where(const Cell& first, const Cell& second, double Sample::*of_second) {
  constexpr std::size_t pairs_least = 3;
  const std::size_t rounds = std::min(first.samples.size(), second.samples.size());
  Pairs counted;
  Pairs all;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Sample& a = first.samples[i];
    const Sample& b = second.samples[i];
    for (Pairs* const pairs : {&all, &counted}) {
      if (pairs == &counted && !(a.counts() && b.counts())) continue;
      pairs->first.push_back(a.value);
      pairs->second.push_back(b.*of_second);
    }
  }
  all.undisturbed = false;
  return counted.first.size() >= pairs_least ? counted : all;
}

}  // namespace

Pairs pairs_of(const Cell& first, const Cell& second) {
  return pairs_where(first, second, &Sample::value);
}

Pairs pairs_with_companion(const Cell& cell) { return pairs_where(cell, cell, &Sample::companion); }

void summarise(Cell& cell) {
  std::vector<double> values;
  std::vector<double> companions;
  const bool any = std::any_of(cell.samples.begin(), cell.samples.end(),
                               [](const Sample& sample) { return sample.counts(); });
  for (const Sample& sample : cell.samples) {
    if (any && !sample.counts()) continue;
    values.push_back(sample.value);
    companions.push_back(sample.companion);
  }
  const std::size_t rejected = any ? cell.samples.size() - values.size() : cell.samples.size();
  cell.summary = summarise(values, rejected);
  if (!cell.companion_unit.empty()) cell.companion = summarise(companions, rejected);
  if (cell.samples.empty()) return;
  if (!any) {
    cell.flags.push_back(unsound(cell));
  } else {
    for (Flag& flag : check_samples(cell.label, values.size(), rejected)) {
      cell.flags.push_back(std::move(flag));
    }
  }
}

Severity worst_of(const Document& document) {
  Severity worst = worst_of(document.flags);
  for (const Cell& cell : document.cells) worst = std::max(worst, worst_of(cell.flags));
  return worst;
}

}  // namespace cxltier::bench
