// SPDX-License-Identifier: Apache-2.0
//
// Two results, cell by cell: is a figure the same, better, worse, or can that not be said?
//
// "Same" is claimed only if the whole 95 % interval of the ratio lies within 5 %.  A figure that is
// marked invalid on either side gets no verdict.  Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

enum class Change : std::uint8_t { same, better, worse, unclear, invalid, missing };
[[nodiscard]] const char* name_of(Change change) noexcept;

struct ComparedCell {
  std::string id;
  std::string label;
  double now = 0;
  double before = 0;
  std::string unit;
  Ratio ratio;  // now over before
  Change change = Change::unclear;
};

// All cells of `now`, and of `before` those that are missing now.
[[nodiscard]] std::vector<ComparedCell> compare(const Document& now, const Document& before);
[[nodiscard]] std::string text_of(const std::vector<ComparedCell>& cells,
                                  const std::string& before_name);

inline constexpr double same_bound = 0.05;

}  // namespace cxltier::bench
