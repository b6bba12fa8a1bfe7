// SPDX-License-Identifier: Apache-2.0
//
// write_seeds PARSER FOLDER: puts the seeds of a parser into a folder, as a corpus to start from.
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_seeds PARSER FOLDER\n");
    return 2;
  }
  const std::vector<std::string> seeds = cxltier::fuzz::seeds_of(argv[1], CXLTIER_FIXTURES);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::string path = std::string(argv[2]) + "/seed-" + std::to_string(i);
    std::ofstream stream(path, std::ios::binary);
    if (!(stream << seeds[i]).flush()) {
      std::fprintf(stderr, "write_seeds: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return seeds.empty() ? 1 : 0;
}
