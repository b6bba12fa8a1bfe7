// SPDX-License-Identifier: Apache-2.0
//
// The modes.  Each measures into session.document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/tier/session.h"

namespace cxltier::bench {

inline constexpr std::size_t mib = std::size_t{1} << 20;

// How much of a mode is wanted: the overview takes a part of each.
enum class Extent : std::uint8_t { full, brief };

// The tasks of a mode, to be run together with others, and what is to be said once they have run.
struct ModePart {
  std::vector<Task> tasks;
  std::function<void(Session&)> conclude;  // may be empty
};

[[nodiscard]] ModePart latency_part(Session& session, Extent extent);
[[nodiscard]] ModePart bandwidth_part(Session& session, Extent extent);
[[nodiscard]] ModePart peak_part(Session& session);
[[nodiscard]] ModePart scaling_part(Session& session);
[[nodiscard]] ModePart curve_part(Session& session, Extent extent);
[[nodiscard]] ModePart alloc_part(Session& session);
[[nodiscard]] ModePart move_part(Session& session);
[[nodiscard]] ModePart app_part(Session& session);
[[nodiscard]] ModePart peers_part(Session& session);
// Searches first, then measures what it found against the other ways, in rounds.
[[nodiscard]] ModePart interleave_part(Session& session);

// Runs options.mode; pre: it is one of mode_names().
void run_mode(Session& session);

// The mixes that were asked for, else `usual`.
[[nodiscard]] std::vector<Mix> mixes_or(const Session& session,
                                        const std::vector<const char*>& usual);
// Page sizes that this machine has without being asked for: 4 KiB, and 2 MiB unless huge pages are
// off.
[[nodiscard]] std::vector<PageKind> small_and_huge(const Session& session);
// Cores of a CPU node that load, at most options.threads.
[[nodiscard]] std::vector<unsigned> load_cpus(const Session& session, std::size_t cpu_node);

// A cell of bandwidth on one node: traffic first, what the program asked for beside it.
[[nodiscard]] Cell bandwidth_cell(const std::string& mode, int cpu_node, int memory_node,
                                  const Mix& mix);

}  // namespace cxltier::bench
