// SPDX-License-Identifier: Apache-2.0
//
// Parses word by word, so that an error can name the word and not merely the text.
#include "runtime/topology/tier_text.h"

#include <algorithm>

#include "policy/check.h"
#include "runtime/topology/sysfs_text.h"

namespace cxltier {
namespace {

// A part of a text; `more` if a separator followed it.
struct Part {
  std::string_view text;
  bool more = false;
};

// Takes the front of `rest` up to one of `stops`, which is taken off as well, and trims it.
Part take_part(std::string_view& rest, std::string_view stops) {
  const std::size_t stop = rest.find_first_of(stops);
  const bool more = stop != std::string_view::npos;
  std::string_view part(rest.data(), more ? stop : rest.size());
  rest.remove_prefix(more ? stop + 1 : rest.size());
  while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
  while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
  return {part, more};
}

TierFault place_node(TierMap& tiers, const Machine& machine, NodeId node) {
  const std::size_t position = position_of(machine, node);
  if (position == machine.node_count) return TierFault::unknown_node;
  if (machine.nodes[position].size.count == 0) return TierFault::node_no_memory;
  if (tiers.tier_of[position] != tier_none) return TierFault::node_twice;
  tiers.tier_of[position] = static_cast<TierIndex>(tiers.tier_count);
  return TierFault::none;
}

// One node or one range.
TierFault place_word(TierMap& tiers, const Machine& machine, std::string_view word) {
  IdRange range;
  std::string_view rest = word;
  if (next_range(rest, range) != ListStep::range || !rest.empty()) return TierFault::not_a_list;
  if (range.last >= node_ids_max) return TierFault::unknown_node;
  for (std::uint32_t id = range.first; id <= range.last; ++id) {
    const TierFault fault = place_node(tiers, machine, static_cast<NodeId>(id));
    if (fault != TierFault::none) return fault;
  }
  return TierFault::none;
}

// The nodes of one tier; on a fault `word` is the part of `tier` at fault.
TierFault place_tier(TierMap& tiers, const Machine& machine, std::string_view tier,
                     std::string_view& word) {
  std::string_view rest = tier;
  for (bool more = true; more;) {
    const Part part = take_part(rest, ",");
    more = part.more;
    word = part.text.empty() ? tier : part.text;
    const TierFault fault = place_word(tiers, machine, part.text);
    if (fault != TierFault::none) return fault;
  }
  ++tiers.tier_count;
  return TierFault::none;
}

ParsedTiers failed(TierFault fault, std::string_view word) { return {TierMap{}, fault, word}; }

}  // namespace

ParsedTiers parse_tiers(std::string_view text, const Machine& machine) noexcept {
  TierMap tiers;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const Part tier = take_part(rest, ";/");
    more = tier.more;
    if (tier.text.empty()) return failed(TierFault::empty_tier, text);
    if (tiers.tier_count == tiers_max) return failed(TierFault::too_many_tiers, tier.text);
    std::string_view word;
    const TierFault fault = place_tier(tiers, machine, tier.text, word);
    if (fault != TierFault::none) return failed(fault, word);
  }
  CXLTIER_CHECK_DEBUG(is_valid(tiers, machine));
  return {tiers, TierFault::none, {}};
}

const char* text_of(TierFault fault) noexcept {
  switch (fault) {
    case TierFault::none:
      return "is well";
    case TierFault::not_a_list:
      return "is not a node or a range of nodes";
    case TierFault::unknown_node:
      return "names a node that the machine does not have";
    case TierFault::node_no_memory:
      return "names a node without memory";
    case TierFault::node_twice:
      return "names a node for the second time";
    case TierFault::empty_tier:
      return "has a tier without nodes";
    case TierFault::too_many_tiers:
      return "is a tier too many: there are at most 8";
  }
  return "?";
}

}  // namespace cxltier
