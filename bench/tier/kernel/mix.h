// SPDX-License-Identifier: Apache-2.0
//
// What a load generator does to memory: how many lines it reads and writes, and how.
//
// A mix is named after the traffic that reaches memory, reads to writes.  An ordinary store first
// reads its line (read for ownership, RFO), so it counts on both sides; a non-temporal store (nt)
// does not read.
//
//   mix    loads : stores per group    traffic read : write    bytes per store to memory
//   R          1 : 0                       1 : 0
//   1:1        0 : 1                       1 : 1                128: RFO and write-back
//   2:1        1 : 1                       2 : 1                128
//   3:2        1 : 2                       3 : 2                128
//   W-nt       0 : 1 nt                    0 : 1                 64
//   1:1nt      1 : 1 nt                    1 : 1                 64
//
// Bytes are counted twice: what the program asked for (application) and what memory had to do
// (traffic).  A published "1:1" from a tool that counts as memory does compares with traffic.
// Pure values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cxltier::bench {

inline constexpr std::uint64_t line_bytes = 64;

struct Mix {
  std::string_view name;
  int mlc_w = 0;         // the number that -W of Intel's Memory Latency Checker gives this mix
  unsigned loads = 1;    // lines per group
  unsigned stores = 0;   // lines per group
  unsigned streams = 1;  // addresses from which the loads come: 2 as in a triad
  enum class Store : std::uint8_t { none, allocating, non_temporal } store = Store::none;

  [[nodiscard]] constexpr unsigned lines() const { return loads + stores; }
  [[nodiscard]] constexpr unsigned traffic_reads() const {
    return loads + (store == Store::allocating ? stores : 0);
  }
};

// All mixes, in the order in which they are listed to the user.
[[nodiscard]] std::span<const Mix> all_mixes() noexcept;
[[nodiscard]] std::optional<Mix> find_mix(std::string_view name) noexcept;
// "R, 2:1, ..."
[[nodiscard]] std::string mix_names();

struct LoadBytes {
  double application = 0;
  double traffic = 0;  // with read for ownership
};
// Bytes of so many groups of a mix.
[[nodiscard]] LoadBytes bytes_of_groups(const Mix& mix, std::uint64_t groups) noexcept;

}  // namespace cxltier::bench
