// SPDX-License-Identifier: Apache-2.0
//
// The curve, and the published machines.
#include "policy/simulator/machine_model.h"

#include <algorithm>

#include "policy/check.h"
#include "policy/simulator/arithmetic.h"

namespace cxltier::simulator {
namespace {

constexpr double utilisation_max = 0.99;

CurveValue formula_at(const TierModel& tier, double u) {
  const double below = integer_power(u, tier.knee - 1);
  const double rest = 1 - u;
  const double k = tier.knee;
  return {tier.idle_ns * (1 + tier.steepness * below * u / rest),
          tier.idle_ns * tier.steepness * (k * below / rest + below * u / (rest * rest))};
}

// The segment of the points in which a traffic lies; the last one goes on for ever.
CurveValue points_at(const TierModel& tier, double u) {
  const double traffic = u * tier.bandwidth_gbps;
  std::size_t i = 1;
  while (i + 1 < tier.point_count && tier.points[i].bandwidth_gbps < traffic) ++i;
  const CurvePoint& a = tier.points[i - 1];
  const CurvePoint& b = tier.points[i];
  const double slope = (b.latency_ns - a.latency_ns) / (b.bandwidth_gbps - a.bandwidth_gbps);
  const double latency = a.latency_ns + slope * (traffic - a.bandwidth_gbps);
  if (latency <= tier.idle_ns) return {tier.idle_ns, 0};
  return {latency, slope * tier.bandwidth_gbps};
}

// Fits of the model to the published gains of load balancing on a dual-socket Ice Lake whose remote
// socket, slowed down, plays the slow memory (Colloid, SOSP 2024, tables of its artifact).  A takes
// "balanced" as the best share, B as equal latencies; the table cannot tell them apart.
constexpr std::string_view colloid_source =
    "fitted to the GUPS tables of host-architecture/colloid (SOSP 2024)";

constexpr MachineModel colloid_a(std::string_view name, double slow_ns) {
  return {.name = name,
          .source = colloid_source,
          .tiers = {{{.idle_ns = 70, .bandwidth_gbps = 205, .steepness = 1.25, .knee = 7},
                     {.idle_ns = slow_ns, .bandwidth_gbps = 84.9, .steepness = 0.05, .knee = 7}}},
          .cores = 15,
          .lines_per_core = 155.0 / 15,
          .background_lines = 69.6,
          .background_think_ns = 80};
}

constexpr MachineModel colloid_b(std::string_view name, double slow_ns) {
  return {.name = name,
          .source = colloid_source,
          .tiers = {{{.idle_ns = 70, .bandwidth_gbps = 205, .steepness = 0.54, .knee = 1},
                     {.idle_ns = slow_ns, .bandwidth_gbps = 90, .steepness = 0.125, .knee = 1}}},
          .cores = 15,
          .lines_per_core = 136.0 / 15,
          .background_lines = 80,
          .background_think_ns = 80};
}

// Write factors a and b below: from the bandwidths by read:write mix of the same artifact, R 69.3,
// 1:1 59.7, writes only 58.1 GB/s for DRAM; 48.0, 54.7, 47.1 for CXL.
constexpr MachineModel eurosys24 = {
    .name = "eurosys24",
    .source =
        "bytedance/eurosys24-artifacts (EuroSys 2024, Apache-2.0): local SNC domain and CXL "
        "card, reads only, 8 and 16 threads",
    .tiers = {{{.idle_ns = 96.2,
                .bandwidth_gbps = 69.3,
                .write_linear = 0.451,
                .write_square = -0.258,
                .points = {{{1.0, 96.6},
                            {9.1, 101.35},
                            {19.0, 104.9},
                            {26.2, 107.5},
                            {57.4, 142.3},
                            {65.8, 166.3},
                            {69.3, 224.6}}},
                .point_count = 7},
               {.idle_ns = 244.3,
                .bandwidth_gbps = 48.0,
                .write_linear = -0.509,
                .write_square = 0.528,
                .points = {{{0.9, 250.4},
                            {12.3, 287.8},
                            {23.4, 306.3},
                            {36.2, 341.6},
                            {45.0, 456.9},
                            {47.2, 507.8},
                            {47.9, 566.7},
                            {48.0, 802.6}}},
                .point_count = 8}}},
    .cores = 12,
    .lines_per_core = 10,
    .background_lines = 20,
    .background_think_ns = 80};

// The same card by formula: k = 1 fits these points best (RMS 3.8 % and 11.5 %).
constexpr MachineModel eurosys24_fit = {.name = "eurosys24-fit",
                                        .source = "k = 1 fitted to the points of eurosys24",
                                        .tiers = {{{.idle_ns = 96.2,
                                                    .bandwidth_gbps = 77.8,
                                                    .steepness = 0.155,
                                                    .write_linear = 0.451,
                                                    .write_square = -0.258},
                                                   {.idle_ns = 244.3,
                                                    .bandwidth_gbps = 52.9,
                                                    .steepness = 0.165,
                                                    .write_linear = -0.509,
                                                    .write_square = 0.528}}},
                                        .cores = 12,
                                        .lines_per_core = 10,
                                        .background_lines = 20,
                                        .background_think_ns = 80};

constexpr MachineModel spr_cxl = {
    .name = "spr-cxl",
    .source =
        "Sapphire Rapids with one ASIC card, as given by Soar/Alto (OSDI 2025), second-hand; "
        "curve shape of fit B",
    .tiers = {{{.idle_ns = 114, .bandwidth_gbps = 218, .steepness = 0.54},
               {.idle_ns = 271, .bandwidth_gbps = 26, .steepness = 0.125}}},
    .cores = 16,
    .lines_per_core = 10,
    .background_lines = 80,
    .background_think_ns = 80};

constexpr MachineModel skx_remote = {
    .name = "skx-remote",
    .source =
        "Skylake with slowed remote DRAM, as given by Soar/Alto (OSDI 2025), second-hand; "
        "curve shape of fit B",
    .tiers = {{{.idle_ns = 90, .bandwidth_gbps = 49, .steepness = 0.54},
               {.idle_ns = 190, .bandwidth_gbps = 17, .steepness = 0.125}}},
    .cores = 10,
    .lines_per_core = 10,
    .background_lines = 20,
    .background_think_ns = 80};

// c of both tiers from its loaded latencies at 60 % of bandwidth, 234 and 372 ns.
constexpr MachineModel vistara = {
    .name = "vistara",
    .source = "Meta Vistara paper, tables II to VI: Turin, 12 channels, two DDR4 cards",
    .tiers = {{{.idle_ns = 130, .bandwidth_gbps = 497, .steepness = 0.53, .write_linear = 0.26},
               {.idle_ns = 250, .bandwidth_gbps = 48, .steepness = 0.325, .write_linear = 0.28}}},
    .cores = 32,
    .lines_per_core = 10,
    .background_lines = 80,
    .background_think_ns = 80};

constexpr MachineModel three_tiers = {
    .name = "three-tiers",
    .source =
        "Micron CZ120 white paper, second-hand: local, remote, two cards; the remote "
        "bandwidth (100 GB/s) and all curve shapes (fit B) are assumptions",
    .tier_count = 3,
    .tiers = {{{.idle_ns = 144, .bandwidth_gbps = 278.4, .steepness = 0.54},
               {.idle_ns = 239, .bandwidth_gbps = 100, .steepness = 0.125},
               {.idle_ns = 254, .bandwidth_gbps = 52.4, .steepness = 0.125}}},
    .cores = 24,
    .lines_per_core = 10,
    .background_lines = 80,
    .background_think_ns = 80};

constexpr std::array machines = {
    colloid_a("colloid-a-135", 135),
    colloid_a("colloid-a-148", 148),
    colloid_a("colloid-a-168", 168),
    colloid_a("colloid-a-192", 192),
    colloid_b("colloid-b-135", 135),
    colloid_b("colloid-b-148", 148),
    colloid_b("colloid-b-168", 168),
    colloid_b("colloid-b-192", 192),
    eurosys24,
    eurosys24_fit,
    spr_cxl,
    skx_remote,
    vistara,
    three_tiers,
};

}  // namespace

CurveValue curve_at(const TierModel& tier, double utilisation) noexcept {
  CXLTIER_CHECK_DEBUG(utilisation >= 0);
  if (tier.point_count > 1) return points_at(tier, utilisation);
  if (utilisation <= utilisation_max) return formula_at(tier, utilisation);
  const CurveValue edge = formula_at(tier, utilisation_max);
  return {edge.latency_ns + edge.slope * (utilisation - utilisation_max), edge.slope};
}

double traffic_weight(const TierModel& tier, double write_share) noexcept {
  return 1 + write_share * (tier.write_linear + tier.write_square * write_share);
}

std::span<const MachineModel> known_machines() noexcept { return machines; }

const MachineModel* find_machine(std::string_view name) noexcept {
  const auto found = std::ranges::find(machines, name, &MachineModel::name);
  return found == machines.end() ? nullptr : &*found;
}

}  // namespace cxltier::simulator
