// SPDX-License-Identifier: Apache-2.0
//
// Builds the load; the leaves that are touched are the same in each tick but for an eighth.
#include "bench/policy/planner_load.h"

#include "policy/presets.h"

namespace cxltier::bench {
namespace {

constexpr std::size_t choices = 2048;
constexpr std::size_t stride = 128;
constexpr std::uint32_t leaf_pages = 512;

TieringConfig config_of_balance() {
  TieringConfig config;
  config.parameters = preset_of(PolicyKind::balance);
  config.cpus = 16;
  return config;
}

}  // namespace

PlannerLoad::PlannerLoad(std::size_t leaves)
    : leaves_(leaves),
      choices_(choices),
      moves_(choices),
      samples_(leaves / stride),
      placements_(leaves),
      tiering_(config_of_balance(), {leaves_, choices_, moves_}) {
  const std::uint64_t pages = leaves * leaf_pages;
  input_.tier_count = 2;
  input_.tiers[0] = {.latency_idle_ps = 100'000,
                     .latency_ps = 102'000,
                     .probes = 8,
                     .read_mbps = 200'000,
                     .write_mbps = 180'000,
                     .used = {pages / 4},
                     .capacity = {pages / 4 + pages / 64}};
  input_.tiers[1] = {.latency_idle_ps = 250'000,
                     .latency_ps = 255'000,
                     .probes = 8,
                     .read_mbps = 50'000,
                     .write_mbps = 50'000,
                     .duplex = Duplex::full,
                     .used = {pages - pages / 4},
                     .capacity = {pages * 2}};
  for (std::uint32_t i = 0; i < leaves; ++i) {
    placements_[i] = {.leaf = i, .call_site = 1};
    placements_[i].resident[i % 4 == 0 ? 0 : 1] = leaf_pages;
  }
  input_.placements = placements_;
  tick();
  input_.placements = {};
}

void PlannerLoad::tick() {
  ++ticks_;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    // Multiples of 4 are on the fast tier: the hot leaves are where they belong.
    const std::size_t offset = i % 8 == 0 ? ticks_ % 16 * 4 : 0;
    samples_[i] = {.leaf = static_cast<std::uint32_t>(i * stride + offset),
                   .touched = 200 + static_cast<std::uint32_t>((i + ticks_) % 16)};
  }
  input_.samples = samples_;
  input_.now = seconds(ticks_);
  input_.elapsed = seconds(1);
  input_.window = milliseconds(20);
  const TickPlan plan = tiering_.tick(input_);
  for (const LeafMove& move : plan.moves) {
    tiering_.record(move, {.moved = move.pages, .refused = {}, .spent = {500'000}}, input_.now);
  }
}

std::size_t PlannerLoad::bytes() const {
  return sizeof(Tiering) + leaves_.size() * sizeof(Leaf) + choices_.size() * sizeof(LeafChoice) +
         moves_.size() * sizeof(LeafMove);
}

}  // namespace cxltier::bench
