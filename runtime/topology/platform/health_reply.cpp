// SPDX-License-Identifier: Apache-2.0
//
// Fixed offsets; the limits are those of the listing's reader.
#include "runtime/topology/platform/health_reply.h"

#include "runtime/topology/acpi/byte_view.h"

namespace cxltier {

std::optional<CxlHealth> parse_health_reply(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < health_reply_bytes) return std::nullopt;
  const acpi::ByteView view(bytes);
  const std::uint64_t status = view.u8(0).value_or(0);
  CxlHealth health;
  health.maintenance_needed = (status & 1) != 0;
  health.performance_degraded = (status & 2) != 0;
  health.replacement_needed = (status & 4) != 0;
  health.media_normal = view.u8(1) == 0u;
  const auto life = static_cast<std::int64_t>(view.u8(3).value_or(0));
  if (life <= 100) health.life_used = life;
  const auto celsius = static_cast<std::int16_t>(view.u16(4).value_or(0));
  if (celsius >= celsius_min && celsius <= celsius_max) health.temperature = celsius;
  health.dirty_shutdowns = view.u32(6);
  return health;
}

}  // namespace cxltier
