// SPDX-License-Identifier: Apache-2.0
//
// What the runs said, and what follows from it.  Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cxltier::bench {

// Of one load under one allocator.  A round that failed is NaN, so that rounds stay paired.
struct CellRuns {
  std::vector<double> ns_per_pair;
  std::optional<double> instructions;
};
using LoadRuns = std::map<std::string, CellRuns>;  // by allocator
using AllRuns = std::map<std::string, LoadRuns>;   // by load

// The middle one; NaNs are left out; empty if nothing is left.
std::optional<double> median(std::vector<double> values);

// Median over the rounds of this allocator's time by jemalloc's of the same round.
std::optional<double> ratio_to_jemalloc(const LoadRuns& load, const std::string& allocator);

// One promise about a figure.
struct Gate {
  std::string name;
  std::optional<double> value;
  double limit = 0;
  bool at_least = false;  // value >= limit is the promise, else value <= limit
  [[nodiscard]] bool held() const {
    return value && (at_least ? *value >= limit : *value <= limit);
  }
};
// Gates whose figures were not taken have no value.
std::vector<Gate> gates_of(const AllRuns& runs);

nlohmann::json json_of(const AllRuns& runs);
// Geometric mean over all loads of ratio_to_jemalloc, by allocator.
std::map<std::string, double> geometric_means(const AllRuns& runs);
std::string table_of(const AllRuns& runs);

}  // namespace cxltier::bench
