// SPDX-License-Identifier: Apache-2.0
//
// Each kind is known by what only it has; the first that fits takes the whole file.
#include "runtime/topology/platform/imported_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/topology/acpi/table.h"
#include "runtime/topology/platform/files.h"
#include "runtime/topology/platform/iomem.h"

namespace cxltier {
namespace {

constexpr const char* tables = "sys/firmware/acpi/tables/";

bool is_signature(std::string_view text) {
  return text.size() == 4 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// "    0010: 86 80 93 0d ...  text": the bytes after an offset that follows on.
bool append_hex(std::string_view line, std::string& bytes) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const std::vector<std::string_view> head = words_of(line.substr(0, colon));
  if (head.size() != 1) return false;
  const std::optional<std::uint64_t> offset = number_in(head[0], 16);
  if (!offset || *offset != bytes.size()) return false;
  for (const std::string_view word : words_of(line.substr(colon + 1))) {
    const std::optional<std::uint64_t> byte = number_in(word, 16);
    if (word.size() != 2 || !byte || bytes.size() >= *offset + 16) break;
    bytes.push_back(static_cast<char>(*byte));
  }
  return bytes.size() > *offset;
}

std::string import_table(std::string_view bytes, StoredTree& tree) {
  acpi::Faults faults;
  const std::string_view signature = bytes.substr(0, 4);
  if (!is_signature(signature)) return {};
  const auto table = acpi::open_table(
      {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, signature, faults);
  if (!table || table->header.length != bytes.size()) return {};
  tree.files[tables + std::string(signature)] = bytes;
  return "table " + std::string(signature);
}

// "CEDT @ 0x000000007ffe2901"
std::string import_acpidump(std::string_view text, StoredTree& tree) {
  std::string name;
  std::size_t found = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() >= 3 && is_signature(words[0]) && words[1] == "@" &&
        words[2].starts_with("0x")) {
      name = tables + std::string(words[0]);
      tree.files[name].clear();
      ++found;
    } else if (!name.empty()) {
      static_cast<void>(append_hex(line, tree.files[name]));
    }
  }
  return found > 0 ? "acpidump" : "";
}

// "0000:6b:00.0 CXL: ..." or without the domain.
std::string address_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line.substr(0, 16));
  if (words.empty() || line.front() == ' ' || line.front() == '\t') return {};
  const std::string_view word = words[0];
  const bool is_short = word.size() == 7 && word[2] == ':' && word[5] == '.';
  const bool is_long = word.size() == 12 && word[4] == ':' && word[7] == ':' && word[10] == '.';
  if (!is_short && !is_long) return {};
  return (is_short ? "0000:" : "") + std::string(word);
}

std::string import_lspci(std::string_view text, StoredTree& tree) {
  std::string file;
  std::size_t bytes = 0;
  for (const std::string_view line : lines_of(text)) {
    if (line.empty()) continue;
    if (const std::string address = address_of(line); !address.empty()) {
      file = "sys/bus/pci/devices/" + address + "/config";
      tree.files[file].clear();
    } else if (!file.empty()) {
      bytes += append_hex(line, tree.files[file]);
    }
  }
  return bytes > 0 ? "lspci" : "";
}

std::string import_json(std::string_view text, StoredTree& tree) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || (text[start] != '[' && text[start] != '{')) return {};
  if (text.find("\"chardev\"") != std::string_view::npos) {
    tree.files["daxctl-list.json"] = text;
    return "daxctl list";
  }
  for (const char* key : {"\"memdev\"", "\"region\"", "\"decoder\"", "\"bus\""}) {
    if (text.find(key) == std::string_view::npos) continue;
    tree.files["cxl-list.json"] = text;
    return "cxl list";
  }
  return {};
}

struct ListedNode {
  std::uint64_t id = 0;
  std::string cpus;
  std::uint64_t megabytes = 0;
  std::string distances;
};

ListedNode& node_of(std::vector<ListedNode>& nodes, std::uint64_t id) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [id](const ListedNode& node) { return node.id == id; });
  if (found != nodes.end()) return *found;
  nodes.push_back({id, {}, 0, {}});
  return nodes.back();
}

std::string rest_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  return trimmed_text(line.substr(std::min(colon + 1, line.size())));
}

// Commas and ranges are sysfs's way, blanks numactl's.
std::string list_of(std::string text) {
  std::replace(text.begin(), text.end(), ' ', ',');
  return text;
}

void take_numactl(std::string_view line, std::vector<ListedNode>& nodes) {
  const std::vector<std::string_view> words = words_of(line, " \t:");
  if (words.size() >= 3 && words[0] == "node") {
    const std::optional<std::uint64_t> id = number_in(words[1]);
    if (id && *id < 1024 && words[2] == "cpus") node_of(nodes, *id).cpus = list_of(rest_of(line));
    if (id && *id < 1024 && words[2] == "size" && words.size() > 3) {
      node_of(nodes, *id).megabytes = number_in(words[3]).value_or(0) & 0xffff'ffff;
    }
    return;
  }
  // "  0:  10  21  14  24"
  const std::size_t colon = line.find(':');
  const std::optional<std::uint64_t> row = colon == std::string_view::npos
                                               ? std::nullopt
                                               : number_in(trimmed_text(line.substr(0, colon)));
  const bool is_known = row && std::any_of(nodes.begin(), nodes.end(),
                                           [&](const ListedNode& node) { return node.id == *row; });
  if (is_known) node_of(nodes, *row).distances = rest_of(line);
}

std::string import_numactl(std::string_view text, StoredTree& tree) {
  if (text.find("available: ") == std::string_view::npos) return {};
  std::vector<ListedNode> nodes;
  for (const std::string_view line : lines_of(text)) take_numactl(line, nodes);
  if (nodes.empty()) return {};
  const std::string folder = "sys/devices/system/node/";
  std::string online;
  for (const ListedNode& node : nodes) {
    const std::string path = fmt::format("{}node{}/", folder, node.id);
    tree.files[path + "cpulist"] = node.cpus + "\n";
    tree.files[path + "meminfo"] =
        fmt::format("Node {} MemTotal: {} kB\n", node.id, node.megabytes * 1024);
    if (!node.distances.empty()) tree.files[path + "distance"] = node.distances + "\n";
    online += fmt::format("{}{}", online.empty() ? "" : ",", node.id);
  }
  tree.files[folder + "online"] = online + "\n";
  return "numactl -H";
}

std::string import_iomem(std::string_view text, StoredTree& tree) {
  const Iomem iomem = parse_iomem(text);
  if (iomem.ranges.empty()) return {};
  tree.files["proc/iomem"] = text;
  return "/proc/iomem";
}

std::string import_log(std::string_view text, StoredTree& tree) {
  for (const std::string_view line : lines_of(text)) {
    const std::size_t close = line.find(']');
    const bool has_time = line.starts_with("[") && close != std::string_view::npos && close < 24 &&
                          line.substr(0, close).find('.') != std::string_view::npos;
    if (!has_time && line.find("Linux version") == std::string_view::npos &&
        !line.starts_with("KVM internal error") && !line.starts_with("ACPI: ")) {
      continue;
    }
    tree.files["dmesg.txt"] += std::string(text) + "\n";
    return "kernel log";
  }
  return {};
}

}  // namespace

std::string import_text(std::string_view bytes, StoredTree& tree) {
  if (std::string kind = import_table(bytes, tree); !kind.empty()) return kind;
  if (std::string kind = import_acpidump(bytes, tree); !kind.empty()) return kind;
  if (std::string kind = import_json(bytes, tree); !kind.empty()) return kind;
  if (bytes.find("Memory block size:") != std::string_view::npos) {
    tree.files["lsmem.txt"] = bytes;
    return "lsmem";
  }
  if (std::string kind = import_numactl(bytes, tree); !kind.empty()) return kind;
  if (std::string kind = import_lspci(bytes, tree); !kind.empty()) return kind;
  if (std::string kind = import_log(bytes, tree); !kind.empty()) return kind;
  return import_iomem(bytes, tree);
}

}  // namespace cxltier
