// SPDX-License-Identifier: Apache-2.0
//
// Every parser of the machine's tables and texts, as a function of any bytes.
//
// A parser is total: feed() returns, or a check that does not hold aborts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cxltier::fuzz {

using Bytes = std::span<const std::uint8_t>;

struct Parser {
  std::string_view name;  // "cedt"
  void (*feed)(Bytes bytes);
};

[[nodiscard]] std::span<const Parser> parsers();

// pre: there is one of that name
[[nodiscard]] const Parser& parser_named(std::string_view name);

}  // namespace cxltier::fuzz
