// SPDX-License-Identifier: Apache-2.0
//
// Shares of tiers as a user writes them.
//
//   CXLTIER_RATIO=3:1                                            fastest tier first
//   MEMKIND_MEM_TIERS=KIND:DRAM,RATIO:3;KIND:KMEM_DAX,RATIO:1;POLICY:STATIC_RATIO
//
// The second is the form of memkind's libmemtier (memkind 1.14, libmemtier.7): DRAM is the fastest
// tier, KMEM_DAX the slowest.  Its DYNAMIC_THRESHOLD policy and its FS_DAX kind have no
// counterpart.
//
// Every parser is total: it takes any bytes and allocates nothing.  Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "policy/machine.h"
#include "runtime/settings/settings.h"

namespace cxltier {

struct TierRatio {
  std::array<std::uint32_t, tiers_max> weights{};  // by tier
  std::uint32_t slowest = 0;                       // of the slowest tier, whichever that is
  friend bool operator==(const TierRatio&, const TierRatio&) = default;
};

inline constexpr std::uint32_t ratio_weight_max = 1'000'000;

// post: ok() implies a weight above 0; on an error `ratio` is untouched
[[nodiscard]] SettingsError parse_ratio(std::string_view text, TierRatio& ratio) noexcept;
[[nodiscard]] SettingsError parse_memkind_tiers(std::string_view text, TierRatio& ratio) noexcept;

}  // namespace cxltier
