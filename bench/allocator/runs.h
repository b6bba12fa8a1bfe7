// SPDX-License-Identifier: Apache-2.0
//
// Runs of allocator_load under one allocator: timed, or with its instructions counted.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cxltier::bench {

struct Allocator {
  std::string name;
  std::string library;      // file to preload, empty: libc's own
  std::string environment;  // what else it needs, as NAME=VALUE
};

struct Load {
  std::string name;
  long pairs_timed;    // about 0.1 s
  long pairs_counted;  // under callgrind; 0: several threads, which it would serialise
};

// libc, ours and those of Debian's packages that are installed; `missing` names the others.
std::vector<Allocator> find_allocators(const std::string& ours, std::vector<std::string>& missing);

const std::vector<Load>& all_loads();

// `program` is allocator_load.  Empty if the run failed.
std::optional<double> nanoseconds_per_pair(const std::string& program, const Allocator& allocator,
                                           const Load& load, long pairs);

// Exact: the difference of two runs under callgrind, so that start-up cancels out.  The loop of the
// program, 6 instructions, is counted too.
std::optional<double> instructions_per_pair(const std::string& program, const Allocator& allocator,
                                            const Load& load);

}  // namespace cxltier::bench
