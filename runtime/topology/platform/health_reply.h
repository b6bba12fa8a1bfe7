// SPDX-License-Identifier: Apache-2.0
//
// What a device answers to Get Health Info (CXL 3.1, 8.2.9.9.3.1, table 8-148), 18 bytes:
//
//   u8 status | u8 media | u8 additional | u8 life used, % | i16 temperature, C |
//   u32 dirty shutdowns | u32 corrected volatile | u32 corrected persistent
//
// Values that no device can have are unknown: what is not implemented reads as 0xff and 0x7fff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/topology/platform/cxl_bus.h"

namespace cxltier {

inline constexpr std::size_t health_reply_bytes = 18;

// Nothing for a shorter answer.
[[nodiscard]] std::optional<CxlHealth> parse_health_reply(std::span<const std::uint8_t> bytes);

}  // namespace cxltier
