// SPDX-License-Identifier: Apache-2.0
//
// Any bytes into the parser that CXLTIER_FUZZ_PARSER names, under libFuzzer.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const cxltier::fuzz::Parser& parser = cxltier::fuzz::parser_named(CXLTIER_FUZZ_PARSER);
  parser.feed({bytes, size});
  return 0;
}
