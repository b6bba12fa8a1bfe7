// SPDX-License-Identifier: Apache-2.0
//
// Colloid's table: what balancing gains over each of three systems on GUPS, and how well the model
// gives it back.
//
// 48 cells: alternate latency 135, 148, 168, 192 ns; HeMem, TPP with huge pages, TPP with 4 KiB
// pages; 0, 5, 10, 15 cores of streams beside it.  Figures from the READMEs of
// host-architecture/colloid (SOSP 2024).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cxltier::simulator {

inline constexpr std::size_t colloid_latencies = 4;
inline constexpr std::size_t colloid_systems = 3;
inline constexpr std::size_t colloid_loads = 4;

struct ColloidCell {
  double slow_ns = 0;
  std::size_t system = 0;  // 0 HeMem, 1 TPP-THP, 2 TPP
  double background_cores = 0;
  double published = 0;  // gain
  double modelled = 0;   // at least 1, as the fit takes it
};

// Which of the two fits.
enum class ColloidFit : std::uint8_t { a, b };

using ColloidTable = std::array<ColloidCell, colloid_latencies * colloid_systems * colloid_loads>;
[[nodiscard]] ColloidTable colloid_table(ColloidFit fit);

// Root of the mean square of log(modelled / published), where published gains below 1 count as 1.
[[nodiscard]] double rms_log_error(const ColloidTable& table);

// Time between accesses that tells the columns apart.
[[nodiscard]] double colloid_think_ns(ColloidFit fit, std::size_t system);

}  // namespace cxltier::simulator
