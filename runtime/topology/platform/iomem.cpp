// SPDX-License-Identifier: Apache-2.0
//
// Two blanks of indentation for each level.
#include "runtime/topology/platform/iomem.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/topology/platform/files.h"

namespace cxltier {
namespace {

struct Line {
  std::size_t level = 0;
  IomemRange range;
};

std::optional<Line> parse_line(std::string_view text) {
  Line line;
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  line.level = indent / 2;
  text.remove_prefix(indent);
  const std::size_t dash = text.find('-');
  const std::size_t colon = text.find(" : ");
  if (dash == std::string_view::npos || colon == std::string_view::npos || dash > colon) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> first = number_in(text.substr(0, dash), 16);
  const std::optional<std::uint64_t> last = number_in(text.substr(dash + 1, colon - dash - 1), 16);
  if (!first || !last || *last < *first) return std::nullopt;
  line.range.first = *first;
  line.range.last = *last;
  line.range.name = text.substr(colon + 3);
  return line;
}

}  // namespace

std::string Iomem::path_of(std::size_t index) const {
  std::string path = ranges[index].name;
  for (std::size_t at = ranges[index].parent; at != no_parent; at = ranges[at].parent) {
    path = ranges[at].name + " > " + path;
  }
  return path;
}

bool Iomem::is_below(std::size_t index, std::string_view prefix) const {
  for (std::size_t at = ranges[index].parent; at != no_parent; at = ranges[at].parent) {
    if (ranges[at].name.starts_with(prefix)) return true;
  }
  return false;
}

Iomem parse_iomem(std::string_view text) {
  Iomem iomem;
  std::vector<std::size_t> open;  // by level, the range that was opened last
  bool all_zero = true;
  for (const std::string_view text_line : lines_of(text)) {
    std::optional<Line> line = parse_line(text_line);
    if (!line) continue;
    open.resize(std::min(open.size(), line->level));
    line->range.parent = open.empty() ? no_parent : open.back();
    all_zero = all_zero && line->range.last == 0;
    iomem.ranges.push_back(std::move(line->range));
    open.push_back(iomem.ranges.size() - 1);
  }
  iomem.is_hidden = all_zero && !iomem.ranges.empty();
  return iomem;
}

std::string iomem_line(const IomemRange& range) {
  return fmt::format("{:x}-{:x} : {}", range.first, range.last, range.name);
}

}  // namespace cxltier
