// SPDX-License-Identifier: Apache-2.0
//
// Two machines, or one at two times, as lists of "where" and "what", and the lines that differ.
//
// Entries of a list are known by what names them (a node by its id, a device by its serial or
// address), so that one that is new does not shift all others.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

#include "runtime/cli/topo_view.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::map<std::string, std::string>;

std::string key_of(const Json& entry, std::size_t position) {
  if (entry.is_object()) {
    for (const char* key : {"id", "tier", "serial", "address", "name"}) {
      const auto field = entry.find(key);
      if (field == entry.end() || field->is_null()) continue;
      return field->is_string() ? field->get<std::string>() : field->dump();
    }
  }
  return fmt::format("{}", position);
}

void flatten(const Json& json, const std::string& where, Lines& lines) {
  const auto inner = [&](const std::string& key) {
    return where.empty() ? key : where + " " + key;
  };
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) flatten(value, inner(key), lines);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      flatten(json[i], inner(key_of(json[i], i)), lines);
  } else {
    lines[where] = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

Lines lines_of_view(const TopoView& view) {
  Json json = Json::parse(json_of(view), nullptr, false);
  // They say of a number what the number itself says.
  json.erase("findings");
  Lines lines;
  flatten(json, "", lines);
  return lines;
}

}  // namespace

std::string difference_of(const TopoView& before, const TopoView& after) {
  const Lines old_lines = lines_of_view(before);
  const Lines new_lines = lines_of_view(after);
  std::string out;
  for (const auto& [where, value] : old_lines) {
    const auto now = new_lines.find(where);
    if (now == new_lines.end()) {
      out += fmt::format("- {}: {}\n", where, value);
    } else if (now->second != value) {
      out += fmt::format("  {}: {} -> {}\n", where, value, now->second);
    }
  }
  for (const auto& [where, value] : new_lines) {
    if (!old_lines.contains(where)) out += fmt::format("+ {}: {}\n", where, value);
  }
  return out;
}

}  // namespace cxltier
