// SPDX-License-Identifier: Apache-2.0
//
// What the runtime says about itself, by way of `cxltier stat PID --json`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/redis_demo/child.h"

namespace cxltier::demo {

struct RuntimeFigures {
  std::uint64_t ticks = 0;  // scans
  std::uint64_t pages_promoted = 0;
  std::uint64_t pages_demoted = 0;
  double cpu_s = 0;                               // of the runtime's thread, since its start
  std::map<std::string, std::uint64_t> refusals;  // pages, by reason
  std::uint64_t over_limit_bytes_max = 0;
  std::string stat;      // all of it, as it was printed
  double read_at_s = 0;  // on the demo's clock
};

// Asks as the unprivileged user that the server runs as: the telemetry folder is that user's own.
Capture ask_figures(const std::string& cxltier, int pid, const std::string& home);

// errors: throws Failure when stat fails or a figure is missing
RuntimeFigures read_figures(const Capture& capture);

// pre: none; throws Failure with the text when it is not the JSON that is expected
RuntimeFigures parse_figures(const std::string& text);

}  // namespace cxltier::demo
