// SPDX-License-Identifier: Apache-2.0
//
// From names to baselines.
#include "policy/simulator/baselines.h"

#include <array>

#include "policy/check.h"

namespace cxltier::simulator {
namespace {

constexpr std::array<std::string_view, 14> names = {"first-touch",   "weighted-interleave",
                                                    "bwap-like",     "caption-like",
                                                    "hottest-first", "tpp-like",
                                                    "tpp-thp-like",  "numa-balancing-2-like",
                                                    "hemem-like",    "memtis-like",
                                                    "colloid-hemem", "colloid-memtis",
                                                    "colloid-tpp",   "arms-like"};

}  // namespace

std::span<const std::string_view> baseline_names() { return names; }

std::unique_ptr<TieringPolicy> make_baseline(std::string_view name, std::size_t tuning) {
  CXLTIER_CHECK(tuning < tunings);
  if (name == "arms-like") return make_arms(tuning);
  for (const auto make :
       {make_static_baseline, make_fault_baseline, make_sample_baseline, make_colloid}) {
    if (std::unique_ptr<TieringPolicy> made = make(name, tuning)) return made;
  }
  return nullptr;
}

}  // namespace cxltier::simulator
