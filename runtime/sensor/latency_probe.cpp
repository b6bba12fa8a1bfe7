// SPDX-License-Identifier: Apache-2.0
//
// Batches into medians; the fastest node of a tier speaks for it.
#include "runtime/sensor/latency_probe.h"

#include <algorithm>

namespace cxltier {
namespace {

// Fewer batches than this say nothing of an idle latency.
constexpr std::size_t batches_for_idle = 4;

}  // namespace

void LatencyProbe::open(const Machine& machine, const TierMap& tiers) noexcept {
  if (is_open_) return;
  is_open_ = true;
  for (std::size_t i = 0; i < machine.node_count && node_count_ < nodes_.size(); ++i) {
    if (tiers.tier_of[i] == tier_none || machine.nodes[i].size.count == 0) continue;
    const std::size_t slot = node_count_;
    if (!chase_.open(slot, machine.nodes[i].id).ok()) continue;
    nodes_[node_count_++] = {.slot = slot, .tier = tiers.tier_of[i]};
  }
}

void LatencyProbe::probe(std::size_t batches) noexcept {
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (Probed& node : std::span(nodes_).first(node_count_)) {
      if (node.count == batches_max) continue;
      const Result<std::uint32_t> latency = chase_.walk(node.slot);
      if (latency.ok() && latency.value() > 0) node.latency_ps[node.count++] = latency.value();
    }
  }
}

std::array<TierLatency, tiers_max> LatencyProbe::take() noexcept {
  std::array<TierLatency, tiers_max> tiers{};
  for (Probed& node : std::span(nodes_).first(node_count_)) {
    const auto seen = std::span(node.latency_ps).first(node.count);
    std::sort(seen.begin(), seen.end());
    if (seen.size() >= batches_for_idle) {
      const std::uint32_t quartile = seen[seen.size() / 4];
      node.idle_ps = node.idle_ps == 0 ? quartile : std::min(node.idle_ps, quartile);
    }
    TierLatency& tier = tiers[index_of(node.tier)];
    const bool is_faster = node.idle_ps != 0 && (tier.idle_ps == 0 || node.idle_ps < tier.idle_ps);
    if (!seen.empty() && (tier.batches == 0 || is_faster)) {
      tier = {node.idle_ps, seen[(seen.size() - 1) / 2], static_cast<std::uint32_t>(seen.size())};
    }
    node.count = 0;
  }
  return tiers;
}

}  // namespace cxltier
