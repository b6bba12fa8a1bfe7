// SPDX-License-Identifier: Apache-2.0
//
// planner_ticks LEAVES TICKS: so many ticks on so many leaves, for callgrind: what two runs with
// different TICKS differ by is the ticks' own.
#include <cstdio>
#include <cstdlib>

#include "bench/policy/planner_load.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: planner_ticks LEAVES TICKS\n");
    return 2;
  }
  cxltier::bench::PlannerLoad load(std::strtoull(argv[1], nullptr, 10));
  for (long i = std::strtol(argv[2], nullptr, 10); i > 0; --i) load.tick();
  std::printf("%zu bytes\n", load.bytes());
  return 0;
}
