// SPDX-License-Identifier: Apache-2.0
//
// Loaded-latency curves in a file, as documents like our own: those that are compiled in, and files
// of a user, such as the logs of another tool turned into JSON.
//
//   {"source": "...", "licence": "...", "platform": "...",           all may be missing
//    "curves": [{"tier": "cxl-local-socket", "mix": "R", "threads": 16, "random": false,
//                "points": [{"delay": 0, "latency_ns": 802.6, "bw_MBps": 48003.1},
//                           [2, 809.9, 48038]]}],
//    "outside": [{"tier": "cxl-local-socket", "latency_ns": 16.3, "log": "where it was found"}]}
//
// A point is an object or a list of delay, ns and MB/s.  "load_threads" and "random_load" are taken
// too.  A tier's name begins with dram-local, dram-remote, cxl-local or cxl-remote.  "outside"
// holds single latencies that are no part of a curve.
//
// All go through the validity rules: the points of each curve, and the least latency that each tier
// shows for reads against the others.
#pragma once

#include <string>
#include <string_view>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

// Adds the curves, and what the rules say of them, to a document.  Throws std::invalid_argument
// with the place and the cause where the text is no such file.
void add_curves(std::string_view json, Document& document);

// A user's file as a document named after it.  Throws std::invalid_argument as add_curves does, and
// where it cannot be read.
[[nodiscard]] Document read_curves_file(const std::string& path);

// The tiers of a published machine as nodes, so that its cells have the shape of ours.
struct TierEntry {
  const char* name;  // in published_tiers.json
  const char* log;   // how the names of a curve's tier begin
  int node;
  const char* kind;
  Distance distance;
};
inline constexpr TierEntry published_tiers[] = {
    {"local", "dram-local", 0, "dram", Distance::local_dram},
    {"remote", "dram-remote", 1, "dram", Distance::remote_dram},
    {"cxl", "cxl-local", 2, "cxl", Distance::cxl},
    {"cxl-remote", "cxl-remote", 3, "cxl", Distance::cxl},
};

// A figure that has no samples.
[[nodiscard]] Summary published_summary(double low, double high);
[[nodiscard]] Cell published_cell(const char* mode, const TierEntry& tier, const std::string& name);
// Nodes for the tiers that have cells.
void add_nodes(Document& document);

}  // namespace cxltier::bench
