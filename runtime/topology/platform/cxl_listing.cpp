// SPDX-License-Identifier: Apache-2.0
//
// One walk over the whole document, which hands each object on with the names of what holds it.
#include "runtime/topology/platform/cxl_listing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cxltier {
namespace {

using Json = nlohmann::json;

constexpr int depth_max = 32;
constexpr std::uint64_t ways_max = 16;

// "16.00 GiB (17.18 GB)": the human form of -u, as near as it tells.
std::optional<std::uint64_t> human_size(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string_view unit(end);
  constexpr std::string_view prefixes = " KMGTP";
  for (std::size_t power = 1; power < prefixes.size(); ++power) {
    const std::string name = std::string(" ") + prefixes[power] + "iB";
    const double bytes = value * std::pow(1024.0, static_cast<double>(power));
    if (unit.starts_with(name) && bytes >= 0 && bytes < 1e19) {
      return static_cast<std::uint64_t>(bytes);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_of(const Json& json, const char* key) {
  const auto field = json.find(key);
  if (field == json.end()) return std::nullopt;
  if (field->is_number_unsigned()) return field->get<std::uint64_t>();
  // Some versions print a serial number above 2^63 as a negative one.
  if (field->is_number_integer()) return static_cast<std::uint64_t>(field->get<std::int64_t>());
  if (!field->is_string()) return std::nullopt;
  const std::string text = field->get<std::string>();
  if (const std::optional<std::uint64_t> number = number_in(text)) return number;
  return human_size(text);
}

std::optional<std::int64_t> signed_of(const Json& json, const char* key) {
  const auto field = json.find(key);
  if (field == json.end() || !field->is_number_integer()) return std::nullopt;
  if (field->is_number_unsigned() &&
      field->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  return field->get<std::int64_t>();
}

std::optional<bool> flag_of(const Json& json, const char* key) {
  const auto field = json.find(key);
  if (field == json.end() || !field->is_boolean()) return std::nullopt;
  return field->get<bool>();
}

std::string text_of(const Json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_string() ? field->get<std::string>() : std::string();
}

std::optional<std::int64_t> within(std::optional<std::int64_t> value, std::int64_t low,
                                   std::int64_t high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

// What an object stands in: the nearest port, endpoint or root, decoder and region.
struct Holder {
  std::string port;
  std::string decoder;
  std::string region;
};

class ListingReader {
 public:
  explicit ListingReader(CxlBus& bus) : bus_(bus) {}

  void walk(const Json& json, Holder holder, int depth) {
    if (depth > depth_max) return;
    if (json.is_object()) take(json, holder);
    if (!json.is_structured()) return;
    for (const Json& inner : json) {
      if (inner.is_structured()) walk(inner, holder, depth + 1);
    }
  }

  // A mapping names its memdev and its decoder; outside of one they stand in their own objects.
  void finish() {
    for (CxlRegion& region : bus_.regions) {
      if (region.window.empty()) region.window = window_of(region);
    }
  }

 private:
  void take(const Json& json, Holder& holder);
  void take_port(const Json& json, const char* key, Holder& holder);
  void take_memory(const Json& json, const Holder& holder);
  void take_decoder(const Json& json, const Holder& holder);
  void take_region(const Json& json, const Holder& holder);
  void take_mapping(const Json& json, const Holder& holder);
  [[nodiscard]] std::string window_of(const CxlRegion& region) const;

  CxlBus& bus_;
};

void ListingReader::take(const Json& json, Holder& holder) {
  for (const char* key : {"bus", "port", "endpoint"}) {
    if (json.contains(key)) return take_port(json, key, holder);
  }
  if (json.contains("position") && json.contains("decoder")) return take_mapping(json, holder);
  if (json.contains("memdev")) return take_memory(json, holder);
  if (json.contains("decoder")) {
    take_decoder(json, holder);
    holder.decoder = text_of(json, "decoder");
    return;
  }
  if (json.contains("region")) {
    take_region(json, holder);
    holder.region = text_of(json, "region");
  }
}

void ListingReader::take_port(const Json& json, const char* key, Holder& holder) {
  CxlPort port;
  port.name = text_of(json, key);
  port.parent = holder.port;
  port.uport = text_of(json, "host");
  port.parent_dport = text_of(json, "parent_dport");
  port.decoders_committed = number_of(json, "decoders_committed");
  port.has_driver = text_of(json, "state") != "disabled";
  holder.port = port.name;
  if (!port.name.empty() && bus_.port(port.name) == nullptr) bus_.ports.push_back(std::move(port));
}

void ListingReader::take_memory(const Json& json, const Holder&) {
  CxlMemdev memory;
  memory.name = text_of(json, "memdev");
  if (memory.name.empty() || bus_.memory(memory.name) != nullptr) return;
  memory.host = text_of(json, "host");
  memory.serial = number_of(json, "serial");
  memory.numa_node = signed_of(json, "numa_node");
  memory.ram_size = number_of(json, "ram_size").value_or(0);
  memory.pmem_size = number_of(json, "pmem_size").value_or(0);
  memory.firmware = text_of(json, "firmware_version");
  memory.is_enabled = text_of(json, "state") != "disabled";
  memory.ram_qos = signed_of(json, "ram_qos_class");
  if (!memory.ram_qos) memory.ram_qos = signed_of(json, "qos_class");
  memory.qos_mismatch = flag_of(json, "qos_class_mismatch");
  if (const auto firmware = json.find("firmware");
      firmware != json.end() && firmware->is_object()) {
    memory.firmware_staged = text_of(*firmware, "staged_slot");
    const std::optional<std::uint64_t> active = number_of(*firmware, "active_slot");
    const std::optional<std::uint64_t> staged = number_of(*firmware, "staged_slot");
    if (active && staged && *active != *staged && *staged != 0) {
      memory.firmware_staged = "slot " + std::to_string(*staged);
    }
  }
  if (const auto records = json.find("media_errors");
      records != json.end() && records->is_array()) {
    memory.poison_records = records->size();
  }
  if (const auto health = json.find("health"); health != json.end() && health->is_object()) {
    memory.health = CxlHealth{flag_of(*health, "maintenance_needed"),
                              flag_of(*health, "performance_degraded"),
                              flag_of(*health, "hw_replacement_needed"),
                              flag_of(*health, "media_normal"),
                              within(signed_of(*health, "temperature"), celsius_min, celsius_max),
                              within(signed_of(*health, "life_used_percent"), 0, 100),
                              number_of(*health, "dirty_shutdowns")};
  }
  bus_.memories.push_back(std::move(memory));
}

void ListingReader::take_decoder(const Json& json, const Holder& holder) {
  CxlDecoder decoder;
  decoder.name = text_of(json, "decoder");
  if (decoder.name.empty() || bus_.decoder(decoder.name) != nullptr) return;
  const bool is_root = json.contains("volatile_capable") || json.contains("pmem_capable") ||
                       json.contains("max_available_extent") || holder.port.starts_with("root");
  decoder.parent = !holder.port.empty() ? holder.port : is_root ? "root0" : "";
  decoder.start = number_of(json, "resource");
  decoder.size = number_of(json, "size");
  decoder.ways = number_of(json, "interleave_ways").value_or(1);
  decoder.granularity = number_of(json, "interleave_granularity").value_or(0);
  decoder.region = text_of(json, "region");
  decoder.has_ram = flag_of(json, "volatile_capable").value_or(false);
  decoder.has_pmem = flag_of(json, "pmem_capable").value_or(false);
  decoder.qos_class = signed_of(json, "qos_class");
  decoder.mode = text_of(json, "mode");
  decoder.dpa_size = number_of(json, "dpa_size");
  decoder.available = signed_of(json, "max_available_extent");
  bus_.decoders.push_back(std::move(decoder));
}

void ListingReader::take_region(const Json& json, const Holder& holder) {
  CxlRegion region;
  region.name = text_of(json, "region");
  if (region.name.empty() || bus_.region(region.name) != nullptr) return;
  region.window = holder.decoder;
  region.start = number_of(json, "resource");
  region.size = number_of(json, "size").value_or(0);
  region.mode = text_of(json, "type");
  region.ways = number_of(json, "interleave_ways").value_or(1);
  region.granularity = number_of(json, "interleave_granularity").value_or(0);
  region.is_committed = text_of(json, "decode_state") == "commit";
  region.has_driver = text_of(json, "state") != "disabled";
  bus_.regions.push_back(std::move(region));
}

void ListingReader::take_mapping(const Json& json, const Holder& holder) {
  const auto region =
      std::find_if(bus_.regions.begin(), bus_.regions.end(),
                   [&](const CxlRegion& candidate) { return candidate.name == holder.region; });
  // The listing is not in the order of interleaving.
  const std::uint64_t position = number_of(json, "position").value_or(ways_max);
  if (region == bus_.regions.end() || position >= ways_max) return;
  region->targets.resize(std::max<std::size_t>(region->targets.size(), position + 1));
  region->memories.resize(region->targets.size());
  region->targets[position] = text_of(json, "decoder");
  region->memories[position] = text_of(json, "memdev");
}

std::string ListingReader::window_of(const CxlRegion& region) const {
  for (const CxlDecoder* window : bus_.windows()) {
    if (region.start && window->start && window->size && *region.start >= *window->start &&
        *region.start - *window->start < *window->size) {
      return window->name;
    }
  }
  return {};
}

void walk_daxctl(const Json& json, const std::string& path, int depth,
                 std::vector<DaxInstance>& list) {
  if (depth > depth_max || !json.is_structured()) return;
  std::string inner_path = path;
  if (json.is_object() && json.contains("path")) inner_path = text_of(json, "path");
  if (json.is_object() && json.contains("chardev")) {
    DaxInstance dax;
    dax.name = text_of(json, "chardev");
    place_dax(inner_path, dax);
    dax.size = number_of(json, "size").value_or(0);
    dax.target_node = signed_of(json, "target_node");
    const std::string mode = text_of(json, "mode");
    dax.driver = mode == "system-ram" ? "kmem" : mode == "devdax" ? "device_dax" : "";
    dax.blocks_online = number_of(json, "online_memblocks");
    dax.blocks_total = number_of(json, "total_memblocks");
    list.push_back(std::move(dax));
    return;
  }
  for (const Json& inner : json) walk_daxctl(inner, inner_path, depth + 1, list);
}

}  // namespace

CxlBus parse_cxl_listing(std::string_view text) {
  CxlBus bus;
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) {
    bus.faults.emplace_back("the output of 'cxl list' is no JSON");
    return bus;
  }
  bus.source = CxlSource::listing;
  ListingReader reader(bus);
  reader.walk(json, {}, 0);
  reader.finish();
  return bus;
}

std::vector<DaxInstance> parse_daxctl_listing(std::string_view text) {
  std::vector<DaxInstance> list;
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_discarded()) walk_daxctl(json, {}, 0, list);
  return list;
}

void add_health(const CxlBus& listed, CxlBus& bus) {
  for (CxlMemdev& memory : bus.memories) {
    const CxlMemdev* other = listed.memory(memory.name);
    if (other == nullptr || other->serial != memory.serial) continue;
    memory.health = other->health;
    memory.poison_records = other->poison_records;
    memory.firmware_staged = other->firmware_staged;
    memory.qos_mismatch = other->qos_mismatch;
  }
}

}  // namespace cxltier
