// SPDX-License-Identifier: Apache-2.0
//
// The two parsers; see tier_ratio.h.
#include "runtime/settings/tier_ratio.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cxltier {
namespace {

constexpr const char* ratio_form = "a ratio is weights of tiers, fastest first, as in 3:1";
constexpr const char* memkind_form =
    "known: KIND:DRAM or KIND:KMEM_DAX with RATIO:number, and POLICY:STATIC_RATIO";

// Cuts `rest` at the first separator and returns what stands before it.
std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view head(rest.data(), at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

std::optional<std::uint32_t> parse_weight(std::string_view text) noexcept {
  std::uint32_t weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  const bool number = error == std::errc{} && end == text.data() + text.size() && !text.empty();
  if (!number || weight > ratio_weight_max) return std::nullopt;
  return weight;
}

bool is_empty(const TierRatio& ratio) noexcept { return ratio == TierRatio{}; }

// "KIND:DRAM,RATIO:3"
SettingsError parse_memkind_tier(std::string_view entry, TierRatio& ratio) noexcept {
  constexpr std::string_view ratio_word = "RATIO:";
  std::string_view rest = entry;
  const std::string_view kind = take_until(rest, ',');
  std::uint32_t* weight = nullptr;
  if (kind == "KIND:DRAM") weight = ratio.weights.data();
  if (kind == "KIND:KMEM_DAX") weight = &ratio.slowest;
  if (weight == nullptr) return {kind, "unknown kind of memory", memkind_form};
  if (std::string_view(rest.data(), std::min(rest.size(), ratio_word.size())) != ratio_word) {
    return {rest, "not a ratio:", memkind_form};
  }
  rest.remove_prefix(ratio_word.size());
  const std::optional<std::uint32_t> number = parse_weight(rest);
  if (!number) return {rest, "not a ratio:", memkind_form};
  if (*weight != 0) return {kind, "kind named twice:", memkind_form};
  *weight = *number;
  return {};
}

}  // namespace

SettingsError parse_ratio(std::string_view text, TierRatio& ratio) noexcept {
  TierRatio parsed;
  std::string_view rest = text;
  for (std::size_t tier = 0; tier == 0 || !rest.empty(); ++tier) {
    const std::string_view word = take_until(rest, ':');
    const std::optional<std::uint32_t> weight = parse_weight(word);
    if (!weight) return {word, "not a weight:", ratio_form};
    if (tier >= parsed.weights.size()) return {word, "more than 8 tiers:", ratio_form};
    parsed.weights[tier] = *weight;
  }
  if (text.back() == ':') return {rest, "not a weight:", ratio_form};
  if (is_empty(parsed)) return {text, "no weight above 0:", ratio_form};
  ratio = parsed;
  return {};
}

SettingsError parse_memkind_tiers(std::string_view text, TierRatio& ratio) noexcept {
  constexpr std::string_view policy_word = "POLICY:";
  TierRatio parsed;
  bool has_policy = false;
  std::string_view rest = text;
  do {
    const std::string_view entry = take_until(rest, ';');
    if (std::string_view(entry.data(), std::min(entry.size(), policy_word.size())) == policy_word) {
      if (entry != "POLICY:STATIC_RATIO") return {entry, "unknown policy", memkind_form};
      has_policy = true;
      continue;
    }
    if (const SettingsError error = parse_memkind_tier(entry, parsed); !error.ok()) return error;
  } while (!rest.empty());
  if (!has_policy) return {text, "no policy in", memkind_form};
  if (is_empty(parsed)) return {text, "no ratio above 0:", memkind_form};
  ratio = parsed;
  return {};
}

}  // namespace cxltier
