// SPDX-License-Identifier: Apache-2.0
//
// Each number of each policy, with its source and what a change of it does.
#include "policy/presets.h"

#include <array>

#include "policy/check.h"

namespace cxltier {
namespace {

struct Preset {
  PolicyKind kind;
  std::string_view name;
  Parameters parameters;
};

// field               value  unit      source, and what a change does
// epochs_hot_min      2      scans     ARMS (2025): more than one interval; higher: later, calmer
// scans_min           2      scans     the first interval contains the faults that brought the
//                                      memory in; lower: the first plan is a guess
// score_min           1/256  heat      arbitrary: one page in a region of 256; higher: less
//                                      lukewarm memory is moved into free room
// margin_share_256    64     1/256     arbitrary, a quarter: above the 10 % by which shares of a
//                                      steady program differ from scan to scan; the closed-loop
//                                      test would change it.  Higher: calmer, worse packed
// margin_sigma_16     48     sigma/16  3 sigma of one sample: as calm at a scan each 5 s, where
//                                      averages hardly smooth, as 2 are at a scan each second
// margin_min          1/64   heat      arbitrary: keeps idle regions from trading places
// free_low_permille   10     1/1000    HybridTier (2025) starts at 1.25 %
// free_high_permille  25     1/1000    MEMTIS (2023) 2 to 3 %.  Higher: more room for new memory,
//                                      less for hot memory
// reversal_backoff    5      s         doubled per reversal.  Higher: slower to correct a mistake
// reversals_max       7                640 s
// refusal_backoff     1      s         a busy page is free again at the next scan, a pinned one
// refusals_max        7                hardly ever: 64 s
constexpr Parameters hot_cold_parameters = {
    .kind = PolicyKind::hot_cold,
    .epochs_hot_min = 2,
    .scans_min = 2,
    .score_min = {heat_max / 256},
    .margin_share_256 = 64,
    .margin_sigma_16 = 48,
    .margin_min = {heat_max / 64},
    .free_low_permille = 10,
    .free_high_permille = 25,
    .reversal_backoff = seconds(5),
    .reversals_max = 7,
    .refusal_backoff = seconds(1),
    .refusals_max = 6,
};

constexpr std::array presets = {
    Preset{PolicyKind::first_touch, "first-touch", Parameters{}},
    Preset{PolicyKind::hot_cold, "hot-cold", hot_cold_parameters},
};

constexpr std::array kinds = {PolicyKind::first_touch, PolicyKind::hot_cold};

const Preset& find_preset(PolicyKind kind) {
  for (const Preset& preset : presets) {
    if (preset.kind == kind) return preset;
  }
  return presets[0];
}

}  // namespace

bool is_valid(const Parameters& parameters) noexcept {
  return parameters.free_low_permille <= parameters.free_high_permille &&
         parameters.free_high_permille <= 1000 && parameters.reversals_max < 32 &&
         parameters.refusals_max < 32;
}

Parameters preset_of(PolicyKind kind) noexcept {
  const Parameters parameters = find_preset(kind).parameters;
  CXLTIER_CHECK_DEBUG(is_valid(parameters));
  return parameters;
}

std::string_view name_of(PolicyKind kind) noexcept { return find_preset(kind).name; }

std::optional<PolicyKind> parse_policy(std::string_view name) noexcept {
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset.kind;
  }
  return std::nullopt;
}

std::span<const PolicyKind> all_policies() noexcept { return kinds; }

}  // namespace cxltier
