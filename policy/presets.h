// SPDX-License-Identifier: Apache-2.0
//
// The policies by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cxltier {

enum class PolicyKind : std::uint8_t { first_touch, hot_cold };

[[nodiscard]] constexpr std::string_view name_of(PolicyKind policy) noexcept {
  return policy == PolicyKind::first_touch ? "first-touch" : "hot-cold";
}

[[nodiscard]] constexpr std::optional<PolicyKind> parse_policy(std::string_view name) noexcept {
  if (name == "first-touch") return PolicyKind::first_touch;
  if (name == "hot-cold") return PolicyKind::hot_cold;
  return std::nullopt;
}

}  // namespace cxltier
