// SPDX-License-Identifier: Apache-2.0
//
// The table of mixes.  Names and -W numbers follow Intel's Memory Latency Checker, so that figures
// can be put side by side; the kernels are our own.
#include "bench/tier/kernel/mix.h"

#include <algorithm>
#include <array>

namespace cxltier::bench {
namespace {

using Store = Mix::Store;

constexpr std::array mixes = {
    Mix{"R", 0, 1, 0, 1, Store::none},
    Mix{"2:1", 2, 1, 1, 1, Store::allocating},
    Mix{"3:1", 3, 2, 1, 1, Store::allocating},
    Mix{"3:2", 4, 1, 2, 1, Store::allocating},
    Mix{"1:1", 5, 0, 1, 1, Store::allocating},
    Mix{"W-nt", 6, 0, 1, 1, Store::non_temporal},
    Mix{"2:1nt", 7, 2, 1, 1, Store::non_temporal},
    Mix{"1:1nt", 8, 1, 1, 1, Store::non_temporal},
    Mix{"3:1nt", 9, 3, 1, 1, Store::non_temporal},
    Mix{"triad-nt", 10, 2, 1, 2, Store::non_temporal},
    Mix{"triad", 11, 2, 1, 2, Store::allocating},
    Mix{"4:1", 12, 3, 1, 1, Store::allocating},
    Mix{"5:1", 13, 4, 1, 1, Store::allocating},
    Mix{"6:1", 14, 5, 1, 1, Store::allocating},
    Mix{"7:1", 15, 6, 1, 1, Store::allocating},
    Mix{"8:1", 16, 7, 1, 1, Store::allocating},
    Mix{"9:1", 17, 8, 1, 1, Store::allocating},
};

}  // namespace

std::span<const Mix> all_mixes() noexcept { return mixes; }

std::optional<Mix> find_mix(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(mixes.begin(), mixes.end(), [&](const Mix& mix) { return mix.name == name; });
  if (found == mixes.end()) return std::nullopt;
  return *found;
}

std::string mix_names() {
  std::string names;
  for (const Mix& mix : mixes) {
    if (!names.empty()) names += ", ";
    names += mix.name;
  }
  return names;
}

LoadBytes bytes_of_groups(const Mix& mix, std::uint64_t groups) noexcept {
  const double line_groups = static_cast<double>(groups * line_bytes);
  return {line_groups * mix.lines(), line_groups * (mix.traffic_reads() + mix.stores)};
}

}  // namespace cxltier::bench
