// SPDX-License-Identifier: Apache-2.0
//
// Two kinds of line count: the one that opens a zone, and its "high".
#include "runtime/topology/zone_text.h"

#include "runtime/topology/sysfs_text.h"

namespace cxltier {
namespace {

// The text behind `key`, which must stand at the start of the line but for blanks.
std::optional<std::string_view> after(std::string_view line, std::string_view key) noexcept {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.find(key) != 0) return std::nullopt;
  line.remove_prefix(key.size());
  return line;
}

}  // namespace

std::optional<ZoneText::Watermark> ZoneText::feed(std::string_view line) noexcept {
  if (const std::optional<std::string_view> rest = after(line, "Node ")) {
    const std::size_t comma = rest->find(',');
    node_ = comma == std::string_view::npos ? std::nullopt
                                            : parse_node(std::string_view(rest->data(), comma));
    return std::nullopt;
  }
  // "high" of the zone has a blank behind it; "high:" of its per-CPU lists has a colon.
  const std::optional<std::string_view> value = after(line, "high ");
  const std::optional<std::uint64_t> pages = value ? parse_number(*value) : std::nullopt;
  if (!node_ || !pages) return std::nullopt;
  return Watermark{*node_, {*pages}};
}

}  // namespace cxltier
