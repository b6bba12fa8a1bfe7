// SPDX-License-Identifier: Apache-2.0
//
// One table of serial numbers for all files, so that sysfs and listings still agree.
#include "runtime/cli/redaction.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <optional>

#include "runtime/topology/acpi/byte_view.h"
#include "runtime/topology/platform/files.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;

class SerialTable {
 public:
  std::uint64_t stand_in(std::uint64_t serial) {
    return numbers_.try_emplace(serial, numbers_.size() + 1).first->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> numbers_;
};

void redact_json(Json& json, SerialTable& serials) {
  if (json.is_object() && json.contains("serial")) {
    Json& serial = json["serial"];
    if (serial.is_number()) {
      serial = serials.stand_in(serial.get<std::uint64_t>());
    } else if (serial.is_string()) {
      serial =
          fmt::format("{:#x}", serials.stand_in(number_in(serial.get<std::string>()).value_or(0)));
    }
  }
  if (!json.is_structured()) return;
  for (Json& inner : json) redact_json(inner, serials);
}

void redact_listing(std::string& text, SerialTable& serials) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    text.clear();
    return;
  }
  redact_json(json, serials);
  text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The Device Serial Number capability, id 3 (PCI Express 6.0, 7.9.3).
void redact_config(std::string& config) {
  std::size_t at = 256;
  for (int steps = 0; at >= 256 && steps < 960; ++steps) {
    const acpi::ByteView bytes(
        {reinterpret_cast<const std::uint8_t*>(config.data()), config.size()});
    const std::optional<std::uint64_t> head = bytes.u32(at);
    if (!head || *head == 0 || *head == 0xffff'ffff) return;
    if ((*head & 0xffff) == 3 && bytes.holds(at + 4, 8)) config.replace(at + 4, 8, 8, '\0');
    at = *head >> 20 & 0xffc;
  }
}

void redact_command_line(std::string& text) {
  std::string line;
  for (const std::string_view word : words_of(text)) {
    const bool is_disk = word.starts_with("root=") || word.find("UUID") != std::string_view::npos;
    line += (line.empty() ? "" : " ");
    line += is_disk ? std::string(word.substr(0, word.find('='))) + "=redacted" : std::string(word);
  }
  text = line + "\n";
}

}  // namespace

void redact(StoredTree& tree) {
  SerialTable serials;
  for (auto& [name, text] : tree.files) {
    if (name.ends_with("/serial")) {
      text = fmt::format("{:#x}\n", serials.stand_in(number_in(trimmed_text(text)).value_or(0)));
    }
  }
  for (auto& [name, text] : tree.files) {
    if (name.ends_with(".json")) redact_listing(text, serials);
    if (name.starts_with("sys/") && name.ends_with("/config")) redact_config(text);
    if (name.ends_with("/serial_number")) text = "redacted\n";
    if (name == "proc/cmdline") redact_command_line(text);
  }
  // The log repeats the command line.
  if (const auto log = tree.files.find("dmesg.txt"); log != tree.files.end()) {
    std::string kept;
    for (const std::string_view line : lines_of(log->second)) {
      const bool tells = line.find("ommand line:") != std::string_view::npos ||
                         line.find("erial") != std::string_view::npos;
      if (!tells) kept += std::string(line) + "\n";
    }
    log->second = kept;
  }
}

}  // namespace cxltier
